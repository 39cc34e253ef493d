package document

func quick([]byte) (value, bool) { return value{}, false }
