// Tested by src/cli/commands/rollout/rollout.test.ts.
/** `flotilla rollout approve`: approves or rejects a ring. */
import { compact } from '../../../core/compact.ts'
import { clientOver } from '../../../client/create-client.ts'
import type { Approval } from '../../../kinds/native/approval.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import { judgeApprovals } from '../../../plan/rollout/gates/approvals.ts'
import type { ApprovalVerdict } from '../../../plan/rollout/gates/approvals.ts'
import { parseTime } from '../../../core/time/time.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { address, namespaceOf, findRollout } from './rollout.ts'
import type { RolloutInput } from './rollout.ts'
import { refuseFinishedRollout } from './refuse-finished.ts'

const APPROVAL = address<Approval>('Approval')

export interface ApproveInput extends RolloutInput {
  readonly flags: RolloutInput['flags'] & { readonly ring?: string; readonly reject?: boolean }
}

type Ring = Rollout['spec']['rings'][number]

/** Creates an Approval and prints which approvals are still missing. */
export async function rolloutApprove(named: string, input: ApproveInput): Promise<void> {
  const { terminal, flags, connection } = input
  const rollout = await findRollout(named, input)
  await refuseFinishedRollout(rollout, input)
  const { name } = rollout.metadata
  const namespace = namespaceOf(input)
  const ring = ringToApprove(rollout, flags.ring)
  const { username, groups } = await whoAmI(connection.rest)
  const speaksFor = refuseUncounted(rollout, ring, { username, groups, reject: flags.reject ?? false })
  const client = clientOver(connection.rest)
  const { uid } = rollout.metadata
  const approval: Approval = {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'Approval',
    metadata: compact({
      name: '',
      generateName: `${name}-${ring.name}-`,
      namespace,
      ownerReferences: uid ? [{ apiVersion: rollout.apiVersion, kind: 'Rollout', name, uid }] : undefined,
    }),
    spec: compact({
      rollout: name,
      plan: rollout.spec.plan,
      ring: ring.name,
      decision: flags.reject ? 'Reject' : 'Approve',
      reason: flags.reason,
      author: username,
      ...compact({ groups: speaksFor.length === 0 ? undefined : speaksFor }),
    }),
  }
  const made = await client.create(APPROVAL, approval, { fieldManager: 'flotilla-cli' })
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(made, undefined, 2)}\n`)
  const { items } = await client.list(APPROVAL, { namespace })
  const verdict = verdictOf(rollout, ring, items)
  terminal.step(
    'ok',
    `ring "${ring.name}" of rollout "${name}" ${flags.reject ? 'rejected' : 'approved'} by ${username}`,
  )
  if (verdict.kind === 'Missing') {
    terminal.step('wait', `the ring needs ${verdict.sentence}; approved so far by: ${verdict.by.join(', ') || 'none'}`)
  }
  if (verdict.kind === 'Rejected' && !flags.reject)
    terminal.step('wait', `the ring waits because ${verdict.by.author} rejected it`)
  terminal.step('next', `flotilla rollout watch ${name} -n ${namespace}`)
}

function ringToApprove(rollout: Rollout, wanted: string | undefined): Ring {
  const { spec, status, metadata } = rollout
  const isOpen = ({ name }: Ring) => status?.rings?.find((state) => state.name === name)?.openedAt !== undefined
  const asking = spec.rings.filter(({ approvals }) => approvals)
  if (wanted !== undefined) {
    const ring = spec.rings.find(({ name }) => name === wanted)
    const names = asking.map(({ name }) => name).join(', ') || 'none'
    if (!ring?.approvals) {
      throw new CliError(ring ? EXIT.conflict : EXIT.notFound, {
        what: ring
          ? `ring "${wanted}" of rollout "${metadata.name}" requires no approval`
          : `rollout "${metadata.name}" has no ring "${wanted}"`,
        todo: `rings that require an approval: ${names}`,
      })
    }
    if (isOpen(ring)) throw alreadyOpen(rollout, wanted)
    return ring
  }
  const ring = asking.find((one) => !isOpen(one))
  if (ring) return ring
  const last = asking.at(-1)
  if (last) throw alreadyOpen(rollout, last.name)
  throw new CliError(EXIT.conflict, { what: `no ring of rollout "${metadata.name}" requires an approval` })
}

function alreadyOpen({ metadata, status }: Rollout, ring: string): CliError {
  const at = `${metadata.name} -n ${metadata.namespace ?? 'default'}`
  const isCompleted = status?.phase === 'Completed'
  return new CliError(EXIT.conflict, {
    what: `ring "${ring}" of rollout "${metadata.name}" is already open`,
    todo: isCompleted
      ? `an approval cannot be withdrawn; to roll back, use "flotilla rollback ${at}"`
      : `an approval cannot be withdrawn; to stop the rollout, use "flotilla rollout pause ${at}"`,
  })
}

/** Refuses an approval that would not count. Returns the groups for which the caller approves. */
function refuseUncounted(
  rollout: Rollout,
  { name, approvals }: Ring,
  { username, groups, reject }: { username: string; groups: readonly string[]; reject: boolean },
): string[] {
  const speaksFor = (approvals?.groups ?? []).filter((group) => groups.includes(group))
  if (approvals?.groups && speaksFor.length === 0) {
    throw new CliError(EXIT.forbidden, {
      what: `user "${username}" may not approve ring "${name}" of rollout "${rollout.metadata.name}"`,
      why: `the ring requires a member of group ${approvals.groups.join(' or ')}; your groups are ${groups.join(', ') || 'none'}`,
    })
  }
  if (!reject && approvals?.noSelfApproval && rollout.spec.startedBy?.includes(username)) {
    throw new CliError(EXIT.forbidden, {
      what: `user "${username}" may not approve ring "${name}" of rollout "${rollout.metadata.name}"`,
      why: 'you started the rollout, and the ring requires an approval by another user',
    })
  }
  return speaksFor
}

function verdictOf({ metadata, spec }: Rollout, ring: Ring, items: readonly Approval[]): ApprovalVerdict {
  const said = items
    .filter((approval) => approval.spec.rollout === metadata.name)
    .map((approval) => ({
      ...approval.spec,
      name: approval.metadata.name,
      at: approval.metadata.creationTimestamp ?? '',
    }))
  const createdAt = parseTime(metadata.creationTimestamp ?? '')
  return judgeApprovals(
    ring.approvals ?? { count: 1 },
    said,
    compact({
      ring: ring.name,
      plan: spec.plan,
      ...compact({ startedBy: spec.startedBy }),
      createdAt,
    }),
  )
}
