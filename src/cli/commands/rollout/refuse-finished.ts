/** Refuses commands for a rollout that is over, with the same error in every command. */
import { clientOver } from '../../../client/create-client.ts'
import type { Reader } from '../../../client/client.ts'
import { findObject } from '../../../client/find-object.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ErrorReport } from '../../errors/cli-error.ts'
import { BUNDLES, RELEASES } from '../../api/flotilla-resources.ts'
import type { RolloutInput } from './rollout.ts'

type Taken = NonNullable<NonNullable<Rollout['status']>['superseded']>

/** Throws if no change of the rollout can have an effect. Must be called before the command writes. */
export async function refuseFinishedRollout(
  rollout: Rollout,
  { connection }: Pick<RolloutInput, 'connection'>,
): Promise<void> {
  const report = await overOf(rollout, clientOver(connection.rest))
  if (!report) return
  throw new CliError(EXIT.conflict, report)
}

async function overOf(rollout: Rollout, reader: Pick<Reader, 'get'>): Promise<ErrorReport | undefined> {
  const { name, namespace = 'default' } = rollout.metadata
  const rolloutName = `rollout "${name}" in namespace "${namespace}"`
  const taken = await takenOver(rollout, reader)
  if (taken) {
    return {
      what: `${rolloutName} was superseded by ${[...new Set(taken.map(({ by }) => by))].join(', ')}; nothing was changed`,
      todo: `show the newest rollout with "flotilla rollout status ${taken[0]!.bundle} -n ${namespace}"`,
    }
  }
  if (rollout.status?.phase === 'Superseded') {
    return {
      what: `${rolloutName} is over: its Bundles were deleted or a newer rollout superseded it; nothing was changed`,
      todo: `list rollouts with "flotilla get rollouts -n ${namespace}"`,
    }
  }
  if (rollout.spec.aborted) {
    return {
      what: `${rolloutName} was aborted and cannot continue; nothing was changed`,
      todo: 'change the Bundle to make a new release with its own rollout',
    }
  }
  const { phase, counts } = rollout.status ?? {}
  if (!rollout.spec.removal || phase !== 'Completed' || counts?.ready !== counts?.total) return undefined
  return {
    what: `${rolloutName} is over: bundle "${rollout.spec.removal.bundle}" was removed from all its clusters; nothing was changed`,
    todo: `show the rollout with "flotilla rollout status ${name} -n ${namespace}"`,
  }
}

/**
 * The rollouts that carry all Bundles of this one, from the status of the rollout. Until the hub has written it, the
 * Bundles already name their newest Release.
 */
async function takenOver({ metadata, spec, status }: Rollout, reader: Pick<Reader, 'get'>): Promise<Taken | undefined> {
  const recorded = status?.superseded ?? []
  if (status?.phase === 'Superseded' && recorded.length > 0) return recorded
  if (spec.removal) return undefined
  const { namespace = 'default' } = metadata
  const taken: Taken = []
  try {
    const release = await findObject(reader, RELEASES, { name: spec.release, namespace })
    for (const { name: bundle, generation } of release?.spec.bundles ?? []) {
      const known = recorded.find((one) => one.bundle === bundle)
      const by = known?.by ?? (await findObject(reader, BUNDLES, { name: bundle, namespace }))?.status?.release
      if (by === undefined || by === spec.release) return undefined
      const newest = known ? undefined : await findObject(reader, RELEASES, { name: by, namespace })
      const isNewer = newest?.spec.bundles.some((one) => one.name === bundle && one.generation > generation)
      if (!known && !isNewer) return undefined
      taken.push({ bundle, by })
    }
  } catch (caught) {
    // A caller that may approve need not be allowed to read Releases and Bundles.
    if (!isApiError(caught, 'Forbidden')) throw caught
    return undefined
  }
  return taken.length > 0 ? taken : undefined
}
