// Package web holds the pages of the user interface as they are built.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files are the built pages, with index.html at the top. A program that was built without them has none.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return embed.FS{} // of a valid name: it cannot
	}
	return files
}
