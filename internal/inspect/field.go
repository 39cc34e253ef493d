package inspect

import (
	"strconv"
)

// integer reads a number; 0 for what is none.
func integer(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
