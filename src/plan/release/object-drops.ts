/** The objects that new content takes from clusters, and whether a person must release the change first. */
import { compareText } from '../../core/text/compare-text.ts'
import { nameSome } from '../../core/text/name-some.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { describeObject, objectKey } from '../objects/object-id.ts'
import type { ObjectId } from '../objects/object-id.ts'
import { isKeptKind, isNamed, isOrphaned } from '../objects/object-options.ts'
import { shrinkAllowance, shrinkToken } from '../placement/shrink-guard.ts'

/** An object of a set. */
export interface ContentObject extends ObjectId {
  /** Set if the object is a hook, which is no part of what stays on the cluster. */
  readonly hook?: unknown
}

/** New content of a bundle on a cluster that has older content. */
export interface ContentChange {
  /** The first cluster with this change. */
  readonly cluster: string
  readonly before: readonly ContentObject[]
  readonly after: readonly ContentObject[]
  /** The options of the new content. */
  readonly options?: BundleOptions | undefined
}

/** Objects that a cluster would lose. */
export interface LostObjects {
  /** In order of name; without objects that the agent keeps on the cluster. */
  readonly dropped: readonly string[]
  /** Number of objects before the change. */
  readonly of: number
  /** None of the objects stays, apart from objects that the agent would keep anyway. */
  readonly isAll: boolean
}

/** The limit of a Bundle, and what a person has decided. */
export interface ContentGuard {
  readonly limit?: number | string | undefined
  readonly generation: number
  /** The token of the change that a person released. */
  readonly release?: string | undefined
  /** The token of the change that the guard stopped before. */
  readonly held?: string | undefined
  /** The token of the last change that went through by a release. */
  readonly released?: string | undefined
}

export type ContentVerdict =
  | { readonly kind: 'Free' }
  | { readonly kind: 'Released'; readonly token: string; readonly dropped: number }
  | {
      readonly kind: 'Held'
      readonly token: string
      readonly message: string
      readonly dropping: number
      readonly of: number
      readonly allowed: number
    }

/** Compares the objects before and after a change. */
export function lostObjects({ before, after, options = {} }: ContentChange): LostObjects {
  const present = before.filter(({ hook }) => hook === undefined)
  const isKept = (id: ObjectId) => isOrphaned(options, id) || (isKeptKind(id) && !isNamed(options, id))
  const mayGo = present.filter((id) => !isKept(id))
  const isNothingPruned = options.prune?.mode === 'Never' || options.delete?.removed === 'Orphan'
  const staying = new Set(after.map(objectKey))
  const renamed = new Set(after.flatMap((id) => generatedKey(id) ?? []))
  const stays = (id: ObjectId) => staying.has(objectKey(id)) || renamed.has(generatedKey(id) ?? '')
  const lost = isNothingPruned ? [] : mayGo.filter((id) => !stays(id))
  return {
    dropped: lost.map(describeObject).sort(compareText),
    of: present.length,
    isAll: lost.length > 0 && lost.length === mayGo.length,
  }
}

/** Kustomize ends the names of generated ConfigMaps and Secrets with a hash of their content, of these letters. */
const GENERATED = /^(.+)-[2456789bcdfghkmt]{10}$/

/** Equal for a generated ConfigMap or Secret before and after a change of its content. */
function generatedKey(id: ObjectId): string | undefined {
  if (id.apiVersion !== 'v1' || (id.kind !== 'ConfigMap' && id.kind !== 'Secret')) return undefined
  const [, stem] = GENERATED.exec(id.name) ?? []
  return stem === undefined ? undefined : objectKey({ ...id, name: `${stem}-` })
}

/** Judges the distinct changes of new content together: one token releases all of them. */
export function judgeContent(changes: readonly ContentChange[], guard: ContentGuard): ContentVerdict {
  const { limit, generation } = guard
  const judged = changes
    .map((change) => ({ ...lostObjects(change), cluster: change.cluster }))
    .filter(({ dropped }) => dropped.length > 0)
    .map((lost) => ({ ...lost, allowed: shrinkAllowance(limit, lost.of) }))
  const dropped = [...new Set(judged.flatMap((lost) => lost.dropped))]
  const token = shrinkToken({ generation, dropped, after: guard.released })
  const asks = judged.find((lost) => lost.dropped.length > lost.allowed || (lost.isAll && limit !== '100%'))
  const shown = asks ?? (guard.held === token ? judged[0] : undefined)
  if (!shown) return { kind: 'Free' }
  if (guard.release === token) return { kind: 'Released', token, dropped: dropped.length }
  const { of, allowed } = shown
  const dropping = shown.dropped.length
  const most = dropping > allowed ? `; at most ${allowed} can be dropped at once` : ''
  const all = shown.isAll ? ' No object of the Bundle would stay.' : ''
  const message = `The change would drop ${dropping} of ${of} objects${most}.${all} On ${shown.cluster}: ${nameSome(shown.dropped)}.`
  return { kind: 'Held', token, message, dropping, of, allowed }
}
