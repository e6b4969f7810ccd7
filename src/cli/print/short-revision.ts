/** `main@sha1:f2ca022…` with as much of the commit as people read. */
export function shortRevision(revision: string): string {
  return revision.replace(/([0-9a-f]{12})[0-9a-f]{28,}$/, '$1')
}
