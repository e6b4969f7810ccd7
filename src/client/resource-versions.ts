/**
 * resourceVersions of one kind are decimal numbers that grow: our store's and etcd's revisions both are, and Kubernetes
 * has promised it since 1.35 (KEP-5504). They may exceed what a JavaScript number holds, so they are compared as text.
 */

/** Below 0 when `a` is older than `b`, 0 when equal, above 0 when newer; the empty version is older than all. */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** The newer of two versions. */
export function newerResourceVersion(a: string, b: string): string {
  return compareResourceVersions(a, b) >= 0 ? a : b
}
