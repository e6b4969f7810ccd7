/**
 * Which life of the cluster this is. A cluster that is restored from its own backup goes back in time: its versions are lower than they were, or the
 * document it was marked with is older than the one the agent marked. Then the agent forgets what it thinks it knows, looks at everything
 * again, and reports a new incarnation, so that nobody takes the old reports for the new cluster.
 */
import { compareResourceVersions } from '../../client/resource-versions.ts'
import { utf8 } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import { Type } from '../../core/schema/typebox.ts'
import type { AcceptedDocument } from '../../wire/document/document-chain.ts'
import { parseJson } from '../../wire/validate.ts'
import type { ClusterState } from './cluster-state.ts'
import { AGENT_FILES } from '../storage/storage.ts'
import type { AgentStorage } from '../storage/storage.ts'

/** What it needs. */
export interface IncarnationPorts {
  readonly storage: AgentStorage
  readonly state: Pick<ClusterState, 'readAge'>
  readonly clock: Clock
  readonly log: Logger
  readonly clusterId: () => string | undefined
  /** The cluster is another one than it was: look at everything again. */
  readonly onRestored: () => void
}

const File = Type.Object({
  clusterId: Type.String(),
  incarnation: Type.Integer({ minimum: 1 }),
  version: Type.String(),
  mark: Type.Optional(Type.Object({ epoch: Type.Integer(), revision: Type.Integer() })),
})

const AGAIN_MS = 10 * 60_000
const RETRY_MS = 30_000

/** Makes it; nothing is asked before `run`. */
export function createIncarnation({ storage, state, clock, log, clusterId, onRestored }: IncarnationPorts) {
  let current = 1

  async function load(id: string) {
    const bytes = await storage.read(AGENT_FILES.incarnation)
    try {
      const file = bytes && parseJson(File, bytes, { what: AGENT_FILES.incarnation, maxBytes: 64 * 1024 })
      return file?.clusterId === id ? file : undefined
    } catch {
      // Half a file, or one of another version: what it said is not known, so nothing is concluded from it.
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
      log.warn({ incarnation: current }, 'the cluster was restored from a backup; everything is looked at again')
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
        await clock.sleep(isDone ? AGAIN_MS : RETRY_MS, signal).catch(() => {}) // aborted: the loop ends
      }
    },
  }
}

function isOlder(mark: AcceptedDocument | undefined, known: { epoch: number; revision: number } | undefined): boolean {
  if (!known) return false
  if (!mark) return true
  return mark.epoch < known.epoch || (mark.epoch === known.epoch && mark.revision < known.revision)
}
