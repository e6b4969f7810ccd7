/** The location of an Application's content, as a Source. */
import type { Source } from '../../../kinds/native/source.ts'

/** The location fields of a Source, or the reason why there is no equivalent. */
export type SourceLocation =
  | { readonly spec: Pick<Source['spec'], 'git' | 'helm' | 'oci'>; readonly note?: string }
  | { readonly problem: string }

/** A source of an Application. */
export interface ArgoAddress {
  readonly repoURL?: string
  readonly chart?: string
  readonly targetRevision?: string
}

const RANGE = /^[\^~<>=!]|[*\s]|\|\||,|^v?\d+(\.\d+)*\.[xX]$/
const EXACT = /^v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$/

/** Reads `repoURL`, `chart` and `targetRevision`. */
export function locationOf({ repoURL = '', chart, targetRevision = '' }: ArgoAddress): SourceLocation {
  if (repoURL === '') return { problem: 'source.repoURL must say where the content is' }
  const isWeb = /^https?:\/\//i.test(repoURL)
  if (chart && isWeb) {
    const version = targetRevision === '' ? {} : { version: targetRevision }
    return { spec: { helm: { url: repoURL, chart, ...version } } }
  }
  if (chart || repoURL.startsWith('oci://')) {
    const base = repoURL.replace(/^oci:\/\//, '').replace(/\/+$/, '')
    return { spec: { oci: { url: `oci://${chart ? `${base}/${chart}` : base}`, ...tagOf(targetRevision) } } }
  }
  return gitOf(repoURL, targetRevision)
}

function tagOf(revision: string): Omit<NonNullable<Source['spec']['oci']>, 'url'> {
  if (revision.startsWith('sha256:')) return { digest: revision as `sha256:${string}` }
  if (revision === '' || RANGE.test(revision)) return { semver: revision || '*' }
  return { tag: EXACT.test(revision) ? revision.replaceAll('+', '_') : revision }
}

function gitOf(url: string, revision: string): SourceLocation {
  if (revision === '' || revision === 'HEAD') return { spec: { git: { url } } }
  const [, kind, name] = /^refs\/(heads|tags)\/(.+)$/.exec(revision) ?? []
  if (name !== undefined) return { spec: { git: { url, ref: kind === 'tags' ? { tag: name } : { branch: name } } } }
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(revision)) return { spec: { git: { url, ref: { commit: revision } } } }
  if (/^(?=.*\d)(?=.*[a-f])[0-9a-f]{7,39}$/.test(revision)) {
    return { problem: `source.targetRevision ${revision} looks like a part of a commit; write all 40 characters` }
  }
  if (RANGE.test(revision)) return { spec: { git: { url, ref: { semver: revision } } } }
  if (!/^v?\d/.test(revision)) return { spec: { git: { url, ref: { branch: revision } } } }
  return {
    spec: { git: { url, ref: { tag: revision } } },
    note: `source.targetRevision ${revision} is taken for a tag; if it is a branch, change ref of the Source`,
  }
}
