/**
 * Follows the maintenance of the hubs of an API. Every change is carried out before it is confirmed, so that a user who
 * waits for the confirmation knows that nothing is decided any more.
 */
import type { Client } from '../../client/client.ts'
import { isApiError, toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { HUB_MAINTENANCE, parseMaintenance } from '../../plan/fleet/hub-maintenance.ts'
import type { Maintenance } from '../../plan/fleet/hub-maintenance.ts'

export interface MaintenanceWatchOptions {
  readonly client: Pick<Client, 'get'>
  readonly clock: Clock
  readonly log: Logger
}

/** What a hub does when a maintenance begins or ends; resolves when it is done. */
export type FollowMaintenance = (maintenance: Maintenance | undefined) => Promise<void>

export interface MaintenanceWatch {
  /** What the API said last. */
  current(): Maintenance | undefined
  /** The beginning of the maintenance that this hub has carried out; undefined while it works. */
  confirmed(): string | undefined
  /** Calls back after each confirmation. */
  onConfirm(listener: () => void): void
  /** Looks every few seconds until the signal is aborted. While the API does not answer, nothing changes. */
  run(follow: FollowMaintenance, signal: AbortSignal): Promise<void>
}

const LOOK_MS = 3_000

/** Looks once, so that a hub that starts in a maintenance never begins to decide. */
export async function openMaintenanceWatch(
  { client, clock, log }: MaintenanceWatchOptions,
  signal: AbortSignal,
): Promise<MaintenanceWatch> {
  const listeners: (() => void)[] = []
  let current = await look(signal)
  let confirmed: string | undefined

  async function look(ended: AbortSignal): Promise<Maintenance | undefined> {
    try {
      return parseMaintenance((await client.get(ConfigMap, HUB_MAINTENANCE, ended)).data)
    } catch (caught) {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    }
  }

  async function carryOut(follow: FollowMaintenance): Promise<void> {
    const wanted = current
    await follow(wanted)
    const wasOn = confirmed !== undefined
    confirmed = wanted?.since
    for (const listener of listeners) listener()
    if (wanted) log.warn({ reason: wanted.reason, since: wanted.since }, 'maintenance: nothing is decided')
    else if (wasOn) log.info({}, 'maintenance ended')
  }

  return {
    current: () => current,
    confirmed: () => confirmed,
    onConfirm: (listener) => void listeners.push(listener),
    async run(follow, ended) {
      let carriedOut = keyOf(undefined)
      while (!ended.aborted) {
        try {
          // What failed is tried again at the next look.
          if (keyOf(current) !== carriedOut) {
            const key = keyOf(current)
            await carryOut(follow)
            carriedOut = key
          }
          await clock.sleep(LOOK_MS, ended)
          current = await look(ended)
        } catch (caught) {
          if (ended.aborted) return
          log.debug({ err: toError(caught) }, 'the maintenance could not be read or carried out')
          await clock.sleep(LOOK_MS, ended).catch(() => {}) // aborted: the loop ends
        }
      }
    },
  }
}

function keyOf(maintenance: Maintenance | undefined): string {
  return maintenance ? `${maintenance.since} ${maintenance.reason}` : ''
}
