/** What the server says about a CustomResourceDefinition: which names it got, and whether it is served. */
import { findCondition } from '../../core/conditions.ts'
import type { CustomResourceDefinition } from '../../kinds/builtin/apiextensions.ts'
import type { Kind } from '../../kinds/define-kind.ts'

/** Holds a definition until its objects are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'

type Names = CustomResourceDefinition['spec']['names']
type Status = NonNullable<CustomResourceDefinition['status']>
type Condition = NonNullable<Status['conditions']>[number]

/** Names of a definition, or why they cannot be its. */
export type NamesAnswer = { readonly names: Names } | { readonly reason: string; readonly message: string }

/** Whether the names of a definition are free among the served kinds. */
export function acceptedNames(crd: CustomResourceDefinition, others: readonly Kind[]): NamesAnswer {
  const { group, names } = crd.spec
  const sameGroup = others.filter((kind) => kind.group === group)
  const resources = new Set(sameGroup.flatMap((kind) => [kind.plural, kind.singular, ...kind.shortNames]))
  const kinds = new Set(sameGroup.flatMap((kind) => [kind.kind, kind.listKind]))
  const taken = (reason: string, name: string) => ({ reason, message: `${JSON.stringify(name)} is already in use` })
  if (resources.has(names.plural)) return taken('PluralConflict', names.plural)
  if (names.singular && resources.has(names.singular)) return taken('SingularConflict', names.singular)
  const short = names.shortNames?.find((name) => resources.has(name))
  if (short !== undefined) return taken('ShortNamesConflict', short)
  if (kinds.has(names.kind)) return taken('KindConflict', names.kind)
  if (names.listKind && kinds.has(names.listKind)) return taken('ListKindConflict', names.listKind)
  return { names }
}

/** The status of a definition with this answer about its names. */
export function conditionsOf(
  crd: CustomResourceDefinition,
  answer: NamesAnswer,
  now: string,
): Status & { conditions: Condition[] } {
  const isAccepted = 'names' in answer
  const before: Status = { ...crd.status }
  if (isAccepted) before.acceptedNames = answer.names
  const wasEstablished = crd.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')
  const named = withCondition(before, now, {
    type: 'NamesAccepted',
    status: isAccepted ? 'True' : 'False',
    reason: isAccepted ? 'NoConflicts' : answer.reason,
    message: isAccepted ? 'no conflicts found' : answer.message,
  })
  // Once established a definition stays so, even when its new names are refused.
  const established = isAccepted || wasEstablished
  const done = withCondition(named, now, {
    type: 'Established',
    status: established ? 'True' : 'False',
    reason: established ? 'InitialNamesAccepted' : 'NotAccepted',
    message: established ? 'the initial names have been accepted' : 'not all names are accepted',
  })
  if (crd.metadata.deletionTimestamp === undefined || done.conditions.some(({ type }) => type === 'Terminating'))
    return done
  return withCondition(done, now, {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  })
}

/** A status with a condition set; its time moves only when its status does. */
export function withCondition(
  status: Status,
  now: string,
  wanted: Omit<Condition, 'lastTransitionTime'>,
): Status & { conditions: Condition[] } {
  const conditions = status.conditions ?? []
  const before = findCondition(conditions, wanted.type)
  const next: Condition = {
    ...wanted,
    lastTransitionTime: before?.status === wanted.status ? before.lastTransitionTime : now,
  }
  return {
    ...status,
    conditions: before
      ? conditions.map((condition) => (condition === before ? { ...before, ...next } : condition))
      : [...conditions, next],
  }
}
