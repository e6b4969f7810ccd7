/** Shortens the commit of a revision: `main@sha1:f2ca022`. */
export function shortRevision(revision: string): string {
  return revision.replace(/([0-9a-f]{12})[0-9a-f]{28,}$/, '$1')
}
