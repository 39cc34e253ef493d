package db

import (
	"context"
	"errors"
)

// Schemas are the versions of the schema, the oldest first.
func Schemas() []int64 {
	var versions []int64
	for _, m := range mustReadMigrations(sqlite) {
		versions = append(versions, m.version)
	}
	return versions
}

// SchemaText is what a migration says, on SQLite.
func SchemaText(version int64) (statements []string) {
	for _, m := range mustReadMigrations(sqlite) {
		if m.version == version {
			statements = m.statements
		}
	}
	return statements
}

// MigrateTo brings the schema to a version that is not the newest; change, if not nil, makes a migration's statements others.
func (s *DB) MigrateTo(ctx context.Context, version int64, change func(version int64, statements []string) []string) error {
	all := mustReadMigrations(s.dialect)
	if change != nil {
		for i, m := range all {
			all[i].statements = change(m.version, m.statements)
		}
	}
	provider, err := s.provider(all)
	if err == nil {
		_, err = provider.UpTo(ctx, version)
	}
	return err
}

// SchemaVersion is the newest migration that ran.
func (s *DB) SchemaVersion(ctx context.Context) (int64, error) { return s.schemaVersion(ctx) }

func mustReadMigrations(d dialect) []migration {
	all, err := readMigrations(d)
	if err != nil || len(all) == 0 {
		panic(errors.Join(errors.New("no migrations"), err))
	}
	return all
}
