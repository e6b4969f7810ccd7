/** `flotilla rollout except`: lets one Release pass windows and freezes that have an exception for who says so. */
import { clientOver } from '../../../client/create-client.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { ROLLOUTS } from '../../api/flotilla-resources.ts'
import { findRollout } from './rollout.ts'
import type { RolloutInput } from './rollout.ts'
import { refuseFinishedRollout } from './refuse-finished.ts'

const KINDS = { user: 'User', group: 'Group', role: 'Role' } as const

/** Uses exceptions on a rollout; the API checks that the person is who they say. */
export async function rolloutExcept(name: string, as: string | undefined, input: RolloutInput): Promise<void> {
  const { terminal, flags } = input
  const used = subjectOf(as)
  if (flags.reason === undefined) {
    throw new CliError(EXIT.usage, { what: 'why does it pass?', todo: 'say --reason "…"; it is kept on the rollout' })
  }
  const rollout = await findRollout(name, input)
  await refuseFinishedRollout(rollout, input)
  const before = rollout.spec.exceptions ?? []
  if (before.some(({ kind, name: known }) => kind === used.kind && known === used.name)) {
    return terminal.step('ok', `rollout ${rollout.metadata.name} passes as ${as} already`)
  }
  const exceptions = [...before, { ...used, reason: flags.reason }]
  const next = { ...rollout, spec: { ...rollout.spec, exceptions } }
  await clientOver(input.connection.rest).update(ROLLOUTS, next, { fieldManager: 'flotilla-cli' })
  terminal.step('ok', `rollout ${rollout.metadata.name} passes windows and freezes that have an exception for ${as}`)
  terminal.step('next', `flotilla rollout status ${rollout.metadata.name}`)
}

function subjectOf(as: string | undefined) {
  const [what = '', ...rest] = (as ?? '').split('=')
  const name = rest.join('=')
  if (!Object.hasOwn(KINDS, what) || name === '') {
    throw new CliError(EXIT.usage, {
      what: as === undefined ? 'as whom?' : `--as ${as}`,
      todo: 'say --as role=NAME, group=NAME or user=NAME, as the exception of the window names it',
    })
  }
  return { kind: KINDS[what as keyof typeof KINDS], name }
}
