/** Reads the audit log of a hub, page by page. */
import { isObject } from '../../../core/json.ts'
import type { Clock } from '../../../core/time/clock.ts'
import type { Connection } from '../../api/connect.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of `audit`. */
export interface AuditFlags {
  readonly output?: 'table' | 'json'
  readonly after?: string
  readonly tail?: string
  readonly verify?: boolean
  /** File with the public root key; verifies the signatures of checkpoints. */
  readonly rootKey?: string
  /** Print further records as they are written. */
  readonly follow?: boolean
  /** Omit changes of the hub. */
  readonly people?: boolean
}

export interface AuditInput {
  readonly connection: Pick<Connection, 'rest'>
  readonly terminal: Pick<Terminal, 'data' | 'say'>
  /** Ends --follow. */
  readonly signal?: AbortSignal
  /** Defaults to the clock of the machine. */
  readonly clock?: Pick<Clock, 'sleep'>
  readonly flags: AuditFlags
}

/** A record of the log. */
export interface Shown {
  readonly sequence: number
  readonly revision: number
  readonly hash: string
  readonly line: string
}

const PAGE = 1000

/** Records after a sequence number; none at the end of the log. */
export async function readPage(connection: AuditInput['connection'], after: number): Promise<Shown[]> {
  const answer = await connection.rest.json({ method: 'GET', path: `/audit?after=${after}&limit=${PAGE}` })
  return isObject(answer) && Array.isArray(answer['items']) ? answer['items'] : []
}
