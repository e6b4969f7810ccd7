// Tested by src/cli/checks/checks.test.ts.
/** Checks of all that needs a person: the same list as in `flotilla status`. */
import { nameSome, plural } from '../../core/text/name-some.ts'
import { ATTENTION_KINDS } from '../../plan/fleet/attention.ts'
import type { AttentionItem } from '../../plan/fleet/attention.ts'
import type { Check, CheckId } from './check.ts'

/** What needs a person, and the kinds that the caller may not list. */
interface AttentionFacts {
  readonly attention: readonly AttentionItem[]
  readonly refused: readonly string[]
}

/** A check for each kind of item. */
export function attentionChecks(facts: AttentionFacts): Check[] {
  return ATTENTION_KINDS.map((kind) => attentionCheck(kind, facts))
}

interface AttentionWords {
  readonly id: CheckId
  /** The kind that must be listed. */
  readonly kind: string
  /** A further kind whose objects are missing in the check if the caller may not list it. */
  readonly also?: readonly string[]
  readonly none: string
  readonly one: string
  readonly many: string
}

const ATTENTION: Readonly<Record<AttentionItem['kind'], AttentionWords>> = {
  FailedRollout: {
    id: 'rollouts-failed',
    kind: 'rollouts',
    none: 'no Rollout failed',
    one: 'Rollout failed',
    many: 'Rollouts failed',
  },
  FailingSource: {
    id: 'sources-failing',
    kind: 'sources',
    none: 'no Source fails',
    one: 'Source fails',
    many: 'Sources fail',
  },
  UnbuiltBundle: {
    id: 'bundles-unbuilt',
    kind: 'bundles',
    none: 'every Bundle has content for its clusters',
    one: 'Bundle has no content for its clusters, or for some of them',
    many: 'Bundles have no content for their clusters, or for some of them',
  },
  HeldPlacement: {
    id: 'placements-held',
    kind: 'placements',
    none: 'no Placement is held',
    one: 'Placement is held',
    many: 'Placements are held',
  },
  HeldChange: {
    id: 'changes-held',
    kind: 'rollouts',
    also: ['gitrepos', 'applicationsets'],
    none: 'no change of a repository, and no removal, waits for a release',
    one: 'change waits for a release',
    many: 'changes wait for a release',
  },
  HeldBack: {
    id: 'bundles-held-back',
    kind: 'bundles',
    none: 'no Bundle is held back after a rollback',
    one: 'Bundle is held back after a rollback',
    many: 'Bundles are held back after a rollback',
  },
  PlaintextSecret: {
    id: 'plaintext-secrets',
    kind: 'bundles',
    none: 'no cluster has a Secret that is plaintext in a repository, unless the repository allows it',
    one: 'Bundle has plaintext Secrets in a repository that does not allow them',
    many: 'Bundles have plaintext Secrets in repositories that do not allow them',
  },
  OpenDefault: {
    id: 'open-defaults',
    kind: 'bundles',
    none: 'every Bundle is rolled out in steps, and every Placement has a guard',
    one: 'object lets one mistake reach all its clusters',
    many: 'objects let one mistake reach all their clusters',
  },
}

function attentionCheck(wanted: AttentionItem['kind'], { attention, refused }: AttentionFacts): Check {
  const { id, kind, also = [], none, one, many } = ATTENTION[wanted]
  if (refused.includes(kind)) return { id, result: 'warning', text: `not checked: you may not list ${kind}` }
  const unseen = also.filter((one) => refused.includes(one))
  const hidden = unseen.length > 0 ? `; not checked: you may not list ${unseen.join(' and ')}` : ''
  const found = attention.filter((item) => item.kind === wanted)
  if (found.length === 0) return { id, result: hidden === '' ? 'ok' : 'warning', text: `${none}${hidden}` }
  const names = nameSome(
    found.map(({ namespace, name, reason }) => `${namespace === undefined ? '' : `${namespace}/`}${name} (${reason})`),
  )
  return { id, result: 'warning', text: `${plural(found.length, one, many)}: ${names}${hidden}` }
}
