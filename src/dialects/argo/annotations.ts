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
/** Annotation of a Source that asks for a fetch; a new value is enough. */
export const POLL = 'flotilla.dev/poll'
