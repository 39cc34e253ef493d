package node

import (
	"hash/fnv"
	"net/netip"

	"sigs.k8s.io/kwok/pkg/utils/gotpl"
)

// podRange is the range of pod addresses. Nothing routes it.
const podRange = "10.128.0.0/9"

// nodeAddress is the address of every simulated node.
const nodeAddress = "127.0.0.1"

// templateFunctions replaces KWOK's allocation of pod addresses. KWOK takes a
// new address each time it plays a stage, and when it plays one twice for a pod
// that has changed in the meantime, the API server refuses the second address.
func templateFunctions() gotpl.FuncMap {
	return gotpl.FuncMap{
		"PodIPsWith": func(_ string, hostNetwork bool, uid, name, namespace string) []string {
			if hostNetwork {
				return []string{nodeAddress}
			}
			return []string{podAddress(uid, name, namespace).String()}
		},
	}
}

// podAddress returns the one address a pod will ever have. Two pods may share
// an address, at odds of one in 8 million: nothing is sent there.
func podAddress(uid, name, namespace string) netip.Addr {
	hash := fnv.New32a()
	for _, part := range []string{uid, name, namespace} {
		_, _ = hash.Write([]byte(part))
		_, _ = hash.Write([]byte{0})
	}
	sum := hash.Sum32()
	// The highest bit of the second byte belongs to the range; the last byte
	// stays away from 0 and 255, which look like no host.
	return netip.AddrFrom4([4]byte{10, 128 | byte(sum>>16)&127, byte(sum >> 8), 1 + byte(sum)%254})
}
