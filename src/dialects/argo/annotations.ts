/** Annotation that asks for a fetch of the repositories: `normal` or `hard`. */
export const REFRESH = 'argocd.argoproj.io/refresh'
/** Annotation that asks for a sync, with any value. */
export const SYNC = 'argocd.argoproj.io/sync'
/**
 * Annotation with what the last sync changed of the spec, while the cluster has it. The CRD of Argo CD itself has no
 * field of the status for it.
 */
export const SYNCED_WITH = 'flotilla.dev/synced-with'
/** Annotation that ends the operation that started at this time. */
export const TERMINATE = 'flotilla.dev/terminate-operation'
/** Annotation of a set that asks for a fetch of the repositories of its generators. */
export const REFRESH_SET = 'argocd.argoproj.io/application-set-refresh'
/** Annotation with the digest of the object's inputs: the object is written only when it changes. */
export const COMPILED = 'flotilla.dev/compiled'
/**
 * Annotation of an Application or ApplicationSet with the name of the Application whose content it is from. An
 * ownerReference would let the garbage collector delete it with that Application, whatever the finalizers say.
 */
export const NESTED_IN = 'flotilla.dev/nested-in'
/** Annotation of what is from the content of an Application: its level below an Application of a user. */
export const NESTED_DEPTH = 'flotilla.dev/nested-depth'
/** Annotation of an ApplicationSet from the content of an Application with the AppProject of that Application. */
export const NESTED_PROJECT = 'flotilla.dev/nested-project'
/** Annotation of a Source that asks for a fetch; a new value is enough. */
export const POLL = 'flotilla.dev/poll'
/** Annotation of a cluster Secret with the name of its Cluster. */
export const CLUSTER_OF_SECRET = 'flotilla.dev/cluster'
/** Annotation of a Cluster with the cluster Secret that it was registered by, or whose labels it has. */
export const SECRET_OF_CLUSTER = 'flotilla.dev/argo-secret'
/** Annotation of a cluster Secret with the fields that it and its Cluster had in common last, as JSON. */
export const COMMON_FIELDS = 'flotilla.dev/argo-common'
/** Annotation of a cluster Secret with what is refused or has no effect. */
export const FINDINGS = 'flotilla.dev/argo-findings'
/** Annotation of a Cluster with the AppProject of its cluster Secret. */
export const ARGO_PROJECT = 'flotilla.dev/argo-project'
/** Annotation of a cluster Secret: `CRON DURATION [ZONE]`. */
export const MAINTENANCE_WINDOW = 'flotilla.dev/maintenance-window'
/** The field manager of what cluster Secrets set on Clusters. */
export const DIALECT_MANAGER = 'dialect-argo'
