package layout

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Access is what a kubeconfig holds: a server and the credentials for it.
type Access struct {
	// Server is the URL of the API server.
	Server string
	// User names the user entry; it has no meaning for the server.
	User string
	// CAPath, CertPath and KeyPath are PEM files. Their content goes into the
	// kubeconfig, which then needs no other file.
	CAPath, CertPath, KeyPath string
}

// WriteKubeconfig writes a kubeconfig with one context to path, atomically and
// readable by its owner only.
func WriteKubeconfig(path string, access Access) error {
	var contents [3][]byte
	for i, file := range []string{access.CAPath, access.CertPath, access.KeyPath} {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read credentials for kubeconfig: %w", err)
		}
		contents[i] = data
	}
	const name = "devcluster"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: access.Server, CertificateAuthorityData: contents[0]}
	config.AuthInfos[access.User] = &clientcmdapi.AuthInfo{ClientCertificateData: contents[1], ClientKeyData: contents[2]}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: access.User}
	config.CurrentContext = name
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	return WriteFile(path, data)
}
