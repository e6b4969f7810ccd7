/** Annotation that asks for a fetch of the repositories: `normal` or `hard`. */
export const REFRESH = 'argocd.argoproj.io/refresh'
/** Annotation that asks for a sync, with any value. */
export const SYNC = 'argocd.argoproj.io/sync'
/** Annotation of a set that asks for a fetch of the repositories of its generators. */
export const REFRESH_SET = 'argocd.argoproj.io/application-set-refresh'
/** Annotation with the digest of the object's inputs: the object is written only when it changes. */
export const COMPILED = 'flotilla.dev/compiled'
/** Annotation of a Source that asks for a fetch; a new value is enough. */
export const POLL = 'flotilla.dev/poll'
