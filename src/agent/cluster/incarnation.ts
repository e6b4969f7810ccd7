/**
 * The incarnation of the cluster. A cluster that is restored from its own backup goes back in time: its resource
 * versions are lower than before, or its mark names an older document than the agent marked. The agent then forgets its
 * state in memory, reads all state again, and reports a new incarnation, so that the hub does not take old reports for
 * the restored cluster.
 */
import { compareResourceVersions } from '../../client/resource-versions.ts'
import { utf8 } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import { Type } from '../../core/schema/typebox.ts'
import type { AcceptedDocument } from '../../wire/document/document-chain.ts'
import { parseJson } from '../../wire/validate.ts'
import { INCARNATION_TIMING } from '../timing.ts'
import type { ClusterState } from './cluster-state.ts'
import { AGENT_FILES } from '../storage/storage.ts'
import type { AgentStorage } from '../storage/storage.ts'

/** Ports of the incarnation. */
export interface IncarnationPorts {
  readonly storage: AgentStorage
  readonly state: Pick<ClusterState, 'readAge'>
  readonly clock: Clock
  readonly log: Logger
  readonly clusterId: () => string | undefined
  /** The cluster was restored: all state must be read again. */
  readonly onRestored: () => void
}

const File = Type.Object({
  clusterId: Type.String(),
  incarnation: Type.Integer({ minimum: 1 }),
  version: Type.String(),
  mark: Type.Optional(Type.Object({ epoch: Type.Integer(), revision: Type.Integer() })),
})

/** Creates the check; nothing is read before `run`. */
export function createIncarnation({ storage, state, clock, log, clusterId, onRestored }: IncarnationPorts) {
  let current = 1

  async function load(id: string) {
    const bytes = await storage.read(AGENT_FILES.incarnation)
    try {
      const file = bytes && parseJson(File, bytes, { what: AGENT_FILES.incarnation, maxBytes: 64 * 1024 })
      return file?.clusterId === id ? file : undefined
    } catch {
      // A partial file, or a file of another version, proves nothing.
      return undefined
    }
  }

  async function check(signal: AbortSignal): Promise<boolean> {
    const id = clusterId()
    if (id === undefined) return false
    const known = await load(id)
    current = known?.incarnation ?? current
    const { version, mark } = await state.readAge(id, signal)
    const isRestored =
      known !== undefined && (compareResourceVersions(version, known.version) < 0 || isOlder(mark, known.mark))
    if (isRestored) {
      current += 1
      log.warn({ incarnation: current }, 'the cluster was restored from a backup; the agent reads everything again')
    }
    const seen = mark ? { mark: { epoch: mark.epoch, revision: mark.revision } } : {}
    await storage.write(
      AGENT_FILES.incarnation,
      utf8(JSON.stringify({ clusterId: id, incarnation: current, version, ...seen })),
    )
    if (isRestored) onRestored()
    return true
  }

  return {
    current: () => current,
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        const isDone = await check(signal).catch((caught: unknown) => {
          if (!signal.aborted) log.debug({ err: toError(caught) }, 'the age of the cluster is not known')
          return false
        })
        await clock.sleep(isDone ? INCARNATION_TIMING.intervalMs : INCARNATION_TIMING.retryMs, signal).catch(() => {}) // aborted: the loop ends
      }
    },
  }
}

function isOlder(mark: AcceptedDocument | undefined, known: { epoch: number; revision: number } | undefined): boolean {
  if (!known) return false
  if (!mark) return true
  return mark.epoch < known.epoch || (mark.epoch === known.epoch && mark.revision < known.revision)
}
