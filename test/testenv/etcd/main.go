// Command etcd is etcd's own server, unchanged; its module has replaces, so `go install` refuses it.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
