package hosting

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// users are the numbers of users that agents run as, one for each agent.
type users struct{ first, last int }

// parseUsers reads FIRST-LAST.
func parseUsers(text string) (users, error) {
	if text == "" {
		return users{}, nil
	}
	from, to, _ := strings.Cut(text, "-")
	first, err := strconv.Atoi(from)
	last, bad := strconv.Atoi(to)
	if err != nil || bad != nil || first < 1 || last < first || last > 1<<31-2 {
		return users{}, fmt.Errorf("--hosted-user %.40q is no range of users: write FIRST-LAST, such as 60000-60999", text)
	}
	if os.Geteuid() != 0 {
		return users{}, errors.New("--hosted-user needs a server that runs as root: only root starts processes of other users")
	}
	return users{first, last}, nil
}

func (u users) some() bool { return u.last > 0 }

// of is the user that a data directory belongs to; one that no other directory belongs to is given the first time. 0 is
// that of the server.
func (u users) of(root, data string) (int, error) {
	if !u.some() {
		return 0, nil
	}
	owner, err := ownerOf(data)
	if err != nil {
		return 0, err
	}
	if owner >= u.first && owner <= u.last {
		return owner, nil
	}
	if owner != 0 {
		return 0, fmt.Errorf("%s belongs to user %d, which is not in --hosted-user: remove it, and the agent makes it again", data, owner)
	}
	taken := map[int]bool{}
	all, err := filepath.Glob(filepath.Join(root, "*", dataDir))
	if err != nil {
		return 0, fmt.Errorf("look for users of agents: %w", err)
	}
	for _, dir := range all {
		if owner, err := ownerOf(dir); err == nil {
			taken[owner] = true
		}
	}
	for user := u.first; user <= u.last; user++ {
		if taken[user] {
			continue
		}
		if err := os.Chown(data, user, user); err != nil {
			return 0, fmt.Errorf("give the agent its directory: %w", err)
		}
		return user, nil
	}
	return 0, fmt.Errorf("all users of --hosted-user have an agent on this server: give a larger range than %d-%d", u.first, u.last)
}

func ownerOf(path string) (int, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("this system does not report the owner of %s: leave out --hosted-user", path)
	}
	return int(stat.Uid), nil
}

// groups are those that a process needs to read its kubeconfig: that of the file. A file that every user may read does
// not need one.
func (u users) groups(kubeconfig string, user int) ([]uint32, error) {
	if user == 0 {
		return nil, nil
	}
	info, err := os.Stat(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("look at kubeconfig: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok, info.Mode().Perm()&0o004 != 0, int(stat.Uid) == user:
		return nil, nil
	case info.Mode().Perm()&0o040 == 0 || stat.Gid == 0:
		return nil, fmt.Errorf("agents of --hosted-user cannot read %s: give it a group of its own (chgrp GROUP FILE; chmod 640 FILE), "+
			"other than root's", filepath.Base(kubeconfig))
	}
	return []uint32{stat.Gid}, nil
}

// uids are the names of directories of agents.
var uids = regexp.MustCompile(`^[a-z2-7]{26}$`)

// sweep removes what is left of agents that are gone.
func (h *Host) sweep(known map[string]bool) error {
	entries, err := os.ReadDir(h.cfg.Data)
	if err != nil {
		return fmt.Errorf("look for what is left of agents: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if !uids.MatchString(e.Name()) || known[e.Name()] || h.units[e.Name()] != nil {
			continue
		}
		if err := os.RemoveAll(filepath.Join(h.cfg.Data, e.Name())); err != nil {
			errs = append(errs, fmt.Errorf("remove what is left of an agent: %w", err))
		}
	}
	return errors.Join(errs...)
}
