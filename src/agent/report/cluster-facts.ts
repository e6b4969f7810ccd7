/** Version and claims of the cluster, read at an interval; a change leads to a report. */
import type { Client } from '../../client/client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import type { Claim, Report } from '../../wire/link/frames.ts'
import { FACTS_TIMING } from '../timing.ts'
import { readClaims } from './claims.ts'

/** Ports of cluster facts. */
export interface ClusterFactsPorts {
  readonly client: Client
  readonly discovery: Discovery
  readonly clock: Clock
  readonly log: Logger
  readonly onChange: () => void
}

/** Creates the facts; nothing is read before `run`. */
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
    /** The facts for a report; absent until they are known. */
    current: (): Pick<Report, 'kubernetesVersion' | 'claims'> => compact({ kubernetesVersion, claims }),
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        const ok = await read(signal).then(
          () => true,
          (caught: unknown) => {
            if (!signal.aborted) log.debug({ err: toError(caught) }, 'the cluster could not be asked about itself')
            return false
          },
        )
        await clock.sleep(ok ? FACTS_TIMING.intervalMs : FACTS_TIMING.retryMs, signal).catch(() => {}) // aborted: the loop ends
      }
    },
  }
}
