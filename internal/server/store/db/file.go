package db

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	sqlitedriver "modernc.org/sqlite"
	sqlitecode "modernc.org/sqlite/lib"
)

const (
	// fileMode is that of a database: it holds hashes of passwords and tokens, and so do the files beside it, which SQLite
	// gives the same mode.
	fileMode = 0o600
	// others are the bits of a mode that concern all other users.
	others = 0o007
	// headerSize is how many bytes of a file of SQLite say what it is.
	headerSize = 100
)

// lockSuffix ends the name of the file that the holder of a database locks.
const lockSuffix = ".lock"

// prepareFile makes the file of SQLite unless it is there, or has to be, and refuses one that has lost its end: SQLite would
// take one without anything in it for a new one, and delete the log beside it.
func prepareFile(path string, existing bool) error {
	flags := os.O_CREATE | os.O_RDWR
	if existing {
		flags = os.O_RDWR
	}
	file, err := os.OpenFile(path, flags, fileMode)
	switch {
	case existing && errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no database at %s: name the --data directory, or the --database, of the server", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: give the file and its directory to the user that runs this program", err)
	case err != nil:
		return fmt.Errorf("%w: name another --data directory, or --database", err)
	}
	return errors.Join(checkFile(file, path), file.Close())
}

func checkFile(file *os.File, path string) error {
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := closeToOthers(name); err != nil {
			return err
		}
	}
	// A server may be moving its log into the file: what the file says is read before how large it is.
	var header [headerSize]byte
	if _, err := file.ReadAt(header[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	log, err := os.Stat(path + "-wal")
	logged := err == nil && log.Size() > 0 // SQLite puts what is missing into the file
	info, err := file.Stat()
	if err != nil {
		return err
	}
	const advice = "restore a backup into a new --data directory"
	if info.Size() == 0 {
		// A server that has used a database leaves its lock.
		if lock, err := os.Stat(path + lockSuffix); logged || err == nil && lock.Size() > 0 {
			return fmt.Errorf("%s is empty and was a database before: %s, or remove the file and those beside it to begin with nothing",
				path, advice)
		}
		return nil
	}
	page := int64(binary.BigEndian.Uint16(header[16:18]))
	if page == 1 {
		page = 1 << 16
	}
	if whole := page * int64(binary.BigEndian.Uint32(header[28:32])); isSQLite(header[:]) && !logged && info.Size() < whole {
		return fmt.Errorf("%s has %d bytes of %d, its end is missing: %s", path, info.Size(), whole, advice)
	}
	return nil
}

// isSQLite reports whether a header is that of a database. What else SQLite finds wrong with it, it says.
func isSQLite(header []byte) bool { return string(header[:16]) == "SQLite format 3\x00" }

// closeToOthers removes the rights of other users that a copy may have given. Those of a group are the operator's matter.
func closeToOthers(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&others != 0 {
		if err := os.Chmod(path, mode&^others); err != nil {
			return fmt.Errorf("every user may read %s, which contains hashes of passwords and tokens, and that cannot be changed: "+
				"%w: run chmod o-rwx on it",
				path, err)
		}
	}
	return nil
}

// checkWhole reads all of a database of SQLite before its schema is changed: what is damaged is left as it is.
func (s *DB) checkWhole(ctx context.Context, current int64) error {
	if s.dialect != sqlite || current == 0 {
		return nil
	}
	var found string
	err := s.Read(ctx, func(t Tx) error { return t.One(ctx, "PRAGMA quick_check(1)", nil, &found) })
	if err != nil {
		return fmt.Errorf("check database: %w", err)
	}
	if found != "ok" {
		return fmt.Errorf("check database: %s is damaged (%.200s): restore a backup into a new --data directory; it was not migrated",
			s.path, found)
	}
	return nil
}

// explain says which file an error of SQLite is about, and what to do.
func (s *DB) explain(err error) error {
	var lite *sqlitedriver.Error
	if !errors.As(err, &lite) {
		return err
	}
	switch lite.Code() & 0xff {
	case sqlitecode.SQLITE_NOTADB:
		return fmt.Errorf("%s is no database of SQLite: name another --data directory, or restore a backup into a new one (%w)", s.path, err)
	case sqlitecode.SQLITE_CORRUPT:
		return fmt.Errorf("%s is damaged: restore a backup into a new --data directory (%w)", s.path, err)
	case sqlitecode.SQLITE_READONLY, sqlitecode.SQLITE_CANTOPEN, sqlitecode.SQLITE_PERM:
		return fmt.Errorf("%s cannot be written: give the file and its directory to the user that runs this program (%w)", s.path, err)
	case sqlitecode.SQLITE_FULL, sqlitecode.SQLITE_IOERR:
		return fmt.Errorf("%s cannot be read or written: look at its disk and the space on it (%w)", s.path, err)
	}
	return err
}
