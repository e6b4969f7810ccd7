/** What the agent knows about its cluster as a whole, read again now and then; the hub hears of it when it changed. */
import type { Client } from '../../client/client.ts'
import type { Discovery } from '../../client/discovery.ts'
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import type { Claim, Report } from '../../wire/link/frames.ts'
import { readClaims } from './claims.ts'

/** What it needs. */
export interface ClusterFactsPorts {
  readonly client: Client
  readonly discovery: Discovery
  readonly clock: Clock
  readonly log: Logger
  readonly onChange: () => void
}

// Nodes come and go in minutes; nobody places by seconds.
const AGAIN_MS = 5 * 60_000
const RETRY_MS = 10_000

/** Makes it; nothing is read before `run`. */
export function createClusterFacts({ client, discovery, clock, log, onChange }: ClusterFactsPorts) {
  let kubernetesVersion: string | undefined
  let claims: Claim[] | undefined

  async function read(signal: AbortSignal): Promise<void> {
    const version = (await discovery.version(signal)).slice(0, 64)
    const isNewVersion = version !== kubernetesVersion
    kubernetesVersion = version
    const found = await readClaims({ client, discovery }, version, signal)
    const isNew = isNewVersion || !jsonEqual(claims, found)
    claims = found
    if (isNew) onChange()
  }

  return {
    /** The parts of a report about the cluster; absent until they are known. */
    current: (): Pick<Report, 'kubernetesVersion' | 'claims'> => ({
      ...(kubernetesVersion === undefined ? {} : { kubernetesVersion }),
      ...(claims === undefined ? {} : { claims }),
    }),
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        const ok = await read(signal).then(
          () => true,
          (caught: unknown) => {
            if (!signal.aborted) log.debug({ err: toError(caught) }, 'the cluster could not be asked about itself')
            return false
          },
        )
        await clock.sleep(ok ? AGAIN_MS : RETRY_MS, signal).catch(() => {}) // aborted: the loop ends
      }
    },
  }
}
