/**
 * The narrow waist of the embedded home: a revisioned log of single-key compare-and-swaps.
 *
 * Promises (docs/invariants.md, I-01 to I-03): a resolved commit survives any crash; revisions strictly increase, one
 * per commit;
 * LIST at r followed by WATCH from r shows any later state, ordered, gapless, without duplicates; a revision that was
 * compacted away is answered with ApiError Expired, never with silence.
 *
 * Keys are paths like `/flotilla.dev/bundles/ns/name`; a prefix always ends in `/`, so that no resource is a prefix
 * of another.
 */

import type { AuditRecord } from './audit-chain.ts'

/** A stored value; `modRevision` is the revision of its last change. */
export interface StoreEntry {
  readonly key: string
  readonly value: string
  readonly createRevision: number
  readonly modRevision: number
}

/** A change to one key. */
export interface StoreWrite {
  readonly key: string
  /** The modRevision the key must have now; 0 = must not exist. */
  readonly expect: number
  /** The new value given the revision it will have; undefined deletes the key. */
  readonly value: ((revision: number) => string) | undefined
  /** A line for the audit chain, written in the same transaction. */
  readonly audit?: string
}

/** What became of a write. */
export type CommitResult =
  | { readonly ok: true; readonly revision: number }
  /** The key's present entry, or undefined when it does not exist. */
  | { readonly ok: false; readonly current: StoreEntry | undefined }

/** A change seen by a watch; `previous` is the value before it. */
export interface StoreEvent {
  readonly key: string
  readonly revision: number
  /** undefined: the key was deleted at this revision. */
  readonly value: string | undefined
  readonly previous: string | undefined
}

/** Events of a watch, to be read once. */
export interface StoreWatch extends AsyncIterable<StoreEvent> {
  /** The next event when it is here already; asking for it is taking it. */
  atHand(): StoreEvent | undefined
  /** A revision up to which the reader has seen everything: where another watch may go on. */
  progress(): number
}

/** A range read. */
export interface StoreRange {
  /** Ends in `/`. */
  readonly prefix: string
  readonly limit?: number
  /** Start after this key (for paging). */
  readonly after?: string
  /** False: how many follow after the cut need not be counted, which takes as long as there are. */
  readonly isCounted?: boolean
  /** Read the state as of this revision; newest when absent. */
  readonly revision?: number
  /** Fields the reader selects by afterwards; a store whose entries are worked out may use them to do less. */
  readonly where?: ReadonlyMap<string, string>
}

/** Entries in key order, and the revision at which they are the whole truth. */
export interface StoreList {
  readonly entries: readonly StoreEntry[]
  readonly revision: number
  /** True when the limit cut the range. */
  readonly more: boolean
  /** How many entries follow after the cut; 0 when they were not to be counted. */
  readonly remaining: number
}

/** A store; every implementation passes `testing/store-contract.ts`. */
export interface Store {
  /** The newest value, or the one as of a revision. */
  get(key: string, at?: number): Promise<StoreEntry | undefined>
  list(range: StoreRange): Promise<StoreList>
  commit(write: StoreWrite): Promise<CommitResult>
  /** The newest revision. */
  revision(): number
  /** The revision of the entry that a revision of a watch event stands for. Defaults to the same revision. */
  objectRevision?(revision: number): number
  /**
   * Events with a revision greater than `after` below a prefix, forever, until the signal is aborted; throws ApiError
   * Expired when they were compacted. `where` is as in StoreRange.
   */
  watch(prefix: string, after: number, signal: AbortSignal, where?: StoreRange['where']): StoreWatch
  /** Forgets history up to and including a revision; present values stay. */
  compact(revision: number): Promise<void>
  /** Up to `limit` records of the audit chain with a sequence number greater than `after`. */
  audit(after: number, limit: number): Promise<readonly AuditRecord[]>
  /** Appends a line to the audit chain that belongs to no write. Omitted by stores without a chain of their own. */
  note?(line: string): Promise<void>
  /** The last record of the audit chain; sequence 0 before the first. */
  auditHead?(): Promise<Pick<AuditRecord, 'sequence' | 'hash'>>
  close(): Promise<void>
}
