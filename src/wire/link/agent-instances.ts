/**
 * Which running agent speaks for a cluster, as a state machine. Every start of an agent draws an instance; a copy of
 * its files starts as another instance with the same identity. A restart and a copy look alike at first, so a new
 * instance may speak; what a restart never does is speak with the old instance afterwards. When that happens two are
 * alive: the newer one is refused until the older one falls silent.
 *
 *   A, A, B, B …          a restart: B speaks for the cluster
 *   A, B, A               a copy: A speaks, B is the rival and is refused
 *   A (silent), rival B   A is gone: B speaks
 */
import { compact } from '../../core/compact.ts'
import { jsonEqual } from '../../core/json.ts'

/** A start of an agent. */
export interface AgentInstance {
  readonly instance: string
  /** RFC 3339. */
  readonly since: string
  readonly address?: string
}

/** What is known about a cluster's agents; the fields of its own are the one that speaks. */
export interface AgentRecord extends AgentInstance {
  readonly before?: AgentInstance
  readonly rival?: AgentInstance
}

/** A contact of an agent that has the cluster's certificate. */
export interface InstanceContact extends AgentInstance {
  /** How long the one that speaks for the cluster was silent before. */
  readonly speakerQuietMs: number
  /** How long the rival was silent; anything when there is none. */
  readonly rivalQuietMs: number
  /** How often the cluster's agent should be heard. */
  readonly checkInMs: number
}

/** Whether the one who spoke may, and what is known now (the same object when nothing changed). */
export interface ContactVerdict {
  readonly verdict: 'Speaks' | 'Refused'
  readonly record: AgentRecord
}

/** A rival that was not heard for this long is gone, and the alarm with it. */
export const DUPLICATE_EXPIRY_MS = 15 * 60_000

const MIN_SILENT_MS = 90_000

/** Judges one who spoke. */
export function judgeContact(record: AgentRecord | undefined, heard: InstanceContact): ContactVerdict {
  const who = instanceOf(heard)
  if (!record) return { verdict: 'Speaks', record: who }
  const speaker = instanceOf(record)
  if (heard.instance === record.instance) {
    const gone = record.rival && heard.rivalQuietMs > DUPLICATE_EXPIRY_MS
    return { verdict: 'Speaks', record: gone ? speaker : record }
  }
  if (heard.instance === record.before?.instance) {
    return { verdict: 'Speaks', record: { ...record.before, rival: speaker } }
  }
  if (!record.rival || heard.speakerQuietMs > Math.max(MIN_SILENT_MS, 3 * heard.checkInMs)) {
    const known = heard.instance === record.rival?.instance ? record.rival : who
    return { verdict: 'Speaks', record: { ...known, before: speaker } }
  }
  const same = heard.instance === record.rival.instance
  return { verdict: 'Refused', record: same ? record : { ...record, rival: who } }
}

/** Whether two records say the same. */
export function sameRecord(a: AgentRecord | undefined, b: AgentRecord | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && jsonEqual(a, b))
}

function instanceOf({ instance, since, address }: AgentInstance): AgentInstance {
  return compact({ instance, since, address })
}
