/** `flotilla rollout except`: lets a rollout pass windows and freezes that have an exception for the caller. */
import { clientOver } from '../../../client/create-client.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { ROLLOUTS } from '../../api/flotilla-resources.ts'
import { findRollout } from './rollout.ts'
import type { RolloutInput } from './rollout.ts'
import { listWindows } from '../../print/print-windows.ts'
import { refuseFinishedRollout } from './refuse-finished.ts'

const KINDS = { user: 'User', group: 'Group', role: 'Role' } as const

/** Adds an exception to a rollout. The API checks that the caller is the subject. */
export async function rolloutExcept(name: string, as: string | undefined, input: RolloutInput): Promise<void> {
  const { terminal, flags } = input
  const used = subjectOf(as)
  if (flags.reason === undefined) {
    throw new CliError(EXIT.usage, {
      what: 'missing --reason',
      todo: 'give a reason with --reason TEXT; it is recorded on the Rollout',
    })
  }
  const rollout = await findRollout(name, input)
  await refuseFinishedRollout(rollout, input)
  const before = rollout.spec.exceptions ?? []
  if (before.some(({ kind, name: known }) => kind === used.kind && known === used.name)) {
    return terminal.step('ok', `rollout "${rollout.metadata.name}" already uses the exceptions for ${as}`)
  }
  const exceptions = [...before, { ...used, reason: flags.reason }]
  const next = { ...rollout, spec: { ...rollout.spec, exceptions } }
  const client = clientOver(input.connection.rest)
  await client.update(ROLLOUTS, next, { fieldManager: 'flotilla-cli' })
  const { name: own, namespace } = rollout.metadata
  const { windows, refused } = await listWindows(client)
  const hasSubject = ({ spec }: (typeof windows)[number]) =>
    (spec.exceptions ?? []).some(({ subjects = [] }) =>
      subjects.some((one) => one.kind === used.kind && one.name === used.name),
    )
  const isNear = ({ metadata }: (typeof windows)[number]) =>
    metadata.namespace === undefined || metadata.namespace === namespace
  if (refused.length === 0 && !windows.some((window) => isNear(window) && hasSubject(window))) {
    terminal.step(
      'warn',
      `recorded, but no window or freeze has an exception for ${as}, so rollout "${own}" passes none with it`,
    )
    return terminal.step('next', 'flotilla freeze list')
  }
  terminal.step('ok', `rollout "${own}" passes windows and freezes with an exception for ${as}`)
  terminal.step('next', `flotilla rollout status ${rollout.metadata.name}`)
}

function subjectOf(as: string | undefined) {
  const [what = '', ...rest] = (as ?? '').split('=')
  const name = rest.join('=')
  if (!Object.hasOwn(KINDS, what) || name === '') {
    throw new CliError(EXIT.usage, {
      what: as === undefined ? 'missing --as' : `invalid --as ${JSON.stringify(as)}`,
      todo: 'give the subject of the exception: --as role=NAME, --as group=NAME or --as user=NAME',
    })
  }
  return { kind: KINDS[what as keyof typeof KINDS], name }
}
