// Clients as others write them, unmodified: client-go's informers and controller-runtime's client and cache, against the
// API of the kubeconfig in the first argument. It says what went wrong and exits with 1, or prints "ok". With a namespace
// and a Placement of Open Cluster Management as further arguments it prints the decided clusters, anew with each change,
// until standard input ends.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clientcache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

const namespace = "go-clients"
const objects = 200

func main() {
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	check(err, "kubeconfig")
	config.QPS, config.Burst = 500, 500
	if len(os.Args) > 3 {
		decisions(config, os.Args[2], os.Args[3])
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		typed := rest.CopyConfig(config)
		typed.ContentType = contentType
		typed.AcceptContentTypes = contentType + "," + runtime.ContentTypeJSON
		clientGo(ctx, typed, contentType)
	}
	election(ctx, config)
	controllerRuntime(ctx, config)
	unstructuredClient(ctx, config)
	fmt.Println("ok")
}

func clientGo(ctx context.Context, config *rest.Config, contentType string) {
	set, err := kubernetes.NewForConfig(config)
	check(err, "client-go")
	_, err = set.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		check(err, "create namespace")
	}
	maps := set.CoreV1().ConfigMaps(namespace)
	check(maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}), "deletecollection")

	factory := informers.NewSharedInformerFactoryWithOptions(set, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps()
	var added, updated, deleted atomic.Int64
	_, err = informer.Informer().AddEventHandler(clientcache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(old, next any) { updated.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	})
	check(err, "event handler")
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	for kind, synced := range factory.WaitForCacheSync(stop) {
		require(synced, "cache of %v did not sync", kind)
	}
	for n := range objects {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m%d", n), Labels: map[string]string{"half": fmt.Sprint(n % 2)}}, Data: map[string]string{"n": fmt.Sprint(n)}}
		_, err := maps.Create(ctx, object, metav1.CreateOptions{})
		check(err, "create")
	}
	eventually(ctx, func() bool { return added.Load() == objects }, "%s: added %d of %d", contentType, &added, objects)
	check(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		object, err := maps.Get(ctx, "m0", metav1.GetOptions{})
		if err != nil {
			return err
		}
		object.Data["n"] = "changed"
		_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
		return err
	}), "update")
	eventually(ctx, func() bool {
		object, err := informer.Lister().ConfigMaps(namespace).Get("m0")
		return err == nil && object.Data["n"] == "changed"
	}, "%s: the change did not arrive", contentType)
	applied := corev1ac.ConfigMap("m1", namespace).WithData(map[string]string{"applied": "yes"})
	_, err = maps.Apply(ctx, applied, metav1.ApplyOptions{FieldManager: "go-clients"})
	check(err, "apply")
	page, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "half=1", Limit: 30})
	check(err, "list")
	require(len(page.Items) == 30 && page.Continue != "", "page of %d", len(page.Items))
	_, err = maps.Update(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m2", ResourceVersion: "1"}}, metav1.UpdateOptions{})
	require(apierrors.IsConflict(err), "want a conflict, got %v", err)
	check(maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}), "deletecollection")
	eventually(ctx, func() bool { return deleted.Load() == objects }, "%s: deleted %d of %d", contentType, &deleted, objects)
}

// decisions reads PlacementDecisions as generators do: by label, without types, the clusters of all pages together.
func decisions(config *rest.Config, namespace, placement string) {
	dynamicClient, err := dynamic.NewForConfig(config)
	check(err, "dynamic client")
	selects := func(options *metav1.ListOptions) {
		options.LabelSelector = "cluster.open-cluster-management.io/placement=" + placement
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamicClient, 0, namespace, selects)
	pages := factory.ForResource(schema.GroupVersionResource{Group: "cluster.open-cluster-management.io", Version: "v1beta1", Resource: "placementdecisions"})
	changes := make(chan struct{}, 10_000)
	change := func() { changes <- struct{}{} }
	_, err = pages.Informer().AddEventHandler(clientcache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { change() },
		UpdateFunc: func(any, any) { change() },
		DeleteFunc: func(any) { change() },
	})
	check(err, "event handler")
	stop := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	factory.Start(stop)
	for {
		select {
		case <-stop:
			return
		case <-changes:
			objects, err := pages.Lister().List(labels.Everything())
			check(err, "lister")
			names := []string{}
			for _, object := range objects {
				decided, _, err := unstructured.NestedSlice(object.(*unstructured.Unstructured).Object, "status", "decisions")
				check(err, "decisions")
				for _, one := range decided {
					names = append(names, one.(map[string]any)["clusterName"].(string))
				}
			}
			line, err := json.Marshal(names)
			check(err, "json")
			fmt.Println(string(line))
		}
	}
}

func election(ctx context.Context, config *rest.Config) {
	set, err := kubernetes.NewForConfig(config)
	check(err, "client-go")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	led := make(chan struct{})
	go leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: namespace},
			Client:     set.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: time.Second, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(led) }, OnStoppedLeading: func() {}},
	})
	select {
	case <-led:
	case <-ctx.Done():
		fail("no leader was elected")
	}
}

func controllerRuntime(ctx context.Context, config *rest.Config) {
	scheme := runtime.NewScheme()
	check(corev1.AddToScheme(scheme), "scheme")
	httpClient, err := rest.HTTPClientFor(config)
	check(err, "http client")
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	check(err, "mapper")
	c, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
	check(err, "controller-runtime")
	objectCache, err := cache.New(config, cache.Options{Scheme: scheme, Mapper: mapper, DefaultNamespaces: map[string]cache.Config{namespace: {}}})
	check(err, "cache")
	go func() { check(objectCache.Start(ctx), "cache start") }()
	require(objectCache.WaitForCacheSync(ctx), "the cache did not sync")
	_, err = objectCache.GetInformer(ctx, &corev1.ConfigMap{})
	check(err, "informer")

	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", Namespace: namespace}}
	result, err := controllerutil.CreateOrUpdate(ctx, c, object, func() error {
		object.Data = map[string]string{"a": "1"}
		return nil
	})
	check(err, "create or update")
	require(result == controllerutil.OperationResultCreated, "result %s", result)
	before := object.DeepCopy()
	object.Data["b"] = "2"
	check(c.Patch(ctx, object, client.MergeFrom(before)), "merge patch")
	before = object.DeepCopy()
	object.Labels = map[string]string{"x": "y"}
	check(c.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})), "locked patch")
	before = object.DeepCopy()
	object.Annotations = map[string]string{"s": "m"}
	check(c.Patch(ctx, object, client.StrategicMergeFrom(before)), "strategic patch")
	eventually(ctx, func() bool {
		var seen corev1.ConfigMap
		err := objectCache.Get(ctx, client.ObjectKeyFromObject(object), &seen)
		return err == nil && seen.Data["b"] == "2" && seen.Labels["x"] == "y" && seen.Annotations["s"] == "m"
	}, "the cache did not see the patches")
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	check(c.Get(ctx, client.ObjectKeyFromObject(object), partial), "partial metadata")
	require(partial.Labels["x"] == "y", "partial labels %v", partial.Labels)
	var list corev1.ConfigMapList
	check(c.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels{"x": "y"}), "list")
	require(len(list.Items) == 1, "%d items", len(list.Items))
	check(c.Delete(ctx, object, client.Preconditions{UID: &object.UID}), "delete")
	err = c.Get(ctx, client.ObjectKeyFromObject(object), object)
	require(apierrors.IsNotFound(err), "want not found, got %v", err)
}

// Objects without Go types: a CustomResourceDefinition made here, and objects of its kind.
func unstructuredClient(ctx context.Context, config *rest.Config) {
	c, err := client.New(config, client.Options{})
	check(err, "unstructured client")
	definition := objectOf("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "boats.go.example.com")
	text := map[string]any{"type": "string"}
	definition.Object["spec"] = map[string]any{
		"group": "go.example.com", "scope": "Namespaced",
		"names": map[string]any{"plural": "boats", "singular": "boat", "kind": "Boat", "listKind": "BoatList"},
		"versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
				"spec":   map[string]any{"type": "object", "properties": map[string]any{"name": text, "flag": text}},
				"status": map[string]any{"type": "object", "properties": map[string]any{"seen": text}},
			}}},
		}},
	}
	check(c.Create(ctx, definition), "create definition")
	eventually(ctx, func() bool {
		check(c.Get(ctx, client.ObjectKeyFromObject(definition), definition), "get definition")
		conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
		return strings.Contains(fmt.Sprint(conditions), "status:True type:Established")
	}, "the definition was not established")

	boats := schema.GroupVersionKind{Group: "go.example.com", Version: "v1", Kind: "Boat"}
	objectCache, err := cache.New(config, cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}})
	check(err, "cache")
	cached := objectOf("go.example.com/v1", "Boat", namespace, "one")
	informer, err := objectCache.GetInformer(ctx, cached, cache.BlockUntilSynced(false))
	check(err, "informer")
	var added, updated, deleted atomic.Int64
	_, err = informer.AddEventHandler(clientcache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(any, any) { updated.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	})
	check(err, "event handler")
	go func() { check(objectCache.Start(ctx), "cache start") }()
	require(objectCache.WaitForCacheSync(ctx), "the cache of boats did not sync")

	boat := objectOf("go.example.com/v1", "Boat", namespace, "one")
	set(boat, "first", "spec", "name")
	check(c.Create(ctx, boat), "create boat")
	set(boat, "second", "spec", "name")
	check(c.Update(ctx, boat), "update boat")
	before := boat.DeepCopy()
	set(boat, "red", "spec", "flag")
	check(c.Patch(ctx, boat, client.MergeFrom(before)), "patch boat")
	set(boat, "yes", "status", "seen")
	check(c.Status().Update(ctx, boat), "update status of boat")
	applied := objectOf("go.example.com/v1", "Boat", namespace, "one")
	set(applied, "blue", "spec", "flag")
	configuration := client.ApplyConfigurationFromUnstructured(applied)
	err = c.Apply(ctx, configuration, client.FieldOwner("other"))
	require(apierrors.IsConflict(err), "want a conflict of owners, got %v", err)
	check(c.Apply(ctx, configuration, client.FieldOwner("other"), client.ForceOwnership), "apply boat")
	eventually(ctx, func() bool {
		err := objectCache.Get(ctx, client.ObjectKeyFromObject(boat), cached)
		return err == nil && get(cached, "spec", "flag") == "blue"
	}, "the cache did not see the applied boat")
	require(get(cached, "spec", "name") == "second" && get(cached, "status", "seen") == "yes", "boat %v", cached.Object)
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(boats.GroupVersion().WithKind("BoatList"))
	check(c.List(ctx, list, client.InNamespace(namespace)), "list boats")
	require(len(list.Items) == 1, "%d boats", len(list.Items))
	check(c.Delete(ctx, boat), "delete boat")
	eventually(ctx, func() bool { return deleted.Load() == 1 }, "the cache did not see the removal")
	require(added.Load() == 1 && updated.Load() == 4, "added %d, updated %d", added.Load(), updated.Load())
	check(c.Delete(ctx, definition), "delete definition")
}

func objectOf(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

func set(object *unstructured.Unstructured, value string, path ...string) {
	check(unstructured.SetNestedField(object.Object, value, path...), "set")
}

func get(object *unstructured.Unstructured, path ...string) string {
	value, _, err := unstructured.NestedString(object.Object, path...)
	check(err, "get")
	return value
}

func eventually(ctx context.Context, isTrue func() bool, format string, args ...any) {
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) { return isTrue(), nil })
	if err != nil {
		for index, arg := range args {
			if counter, isCounter := arg.(*atomic.Int64); isCounter {
				args[index] = counter.Load()
			}
		}
		fail(format, args...)
	}
}

func check(err error, what string) {
	if err != nil {
		fail("%s: %v", what, err)
	}
}

func require(isTrue bool, format string, args ...any) {
	if !isTrue {
		fail(format, args...)
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}
