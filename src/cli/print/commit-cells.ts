/** Revision, author and subject of a commit, as cells of a table. */
import { shortRevision } from '../../core/text/short-revision.ts'
import type { Release } from '../../kinds/native/release.ts'

type ReleaseEntry = Release['spec']['bundles'][number]

const SUBJECT_CHARS = 50

/**
 * Revision, author and subject of content as cells. Only git commits have an author: `-` where there is none, `unknown`
 * where the hub did not record it.
 */
export function commitCells({ revision, origin }: Pick<ReleaseEntry, 'revision' | 'origin'>): [string, string, string] {
  if (revision === undefined) return ['-', '-', '-']
  const absent = /(^|@)sha1:/.test(revision) ? 'unknown' : '-'
  const subject = Array.from(origin?.subject ?? absent)
  const shown = subject.length > SUBJECT_CHARS ? `${subject.slice(0, SUBJECT_CHARS - 1).join('')}…` : subject.join('')
  return [shortRevision(revision), origin?.author ?? absent, shown]
}
