import type { Secret } from '../../kinds/builtin/core.ts'
import type { FetchOutcome, FetchRequest } from '../../source/fetch-request.ts'
import type { Mirror } from '../../source/mirrors.ts'
import type { Source } from '../../kinds/native/source.ts'
import type { Refusal } from '../../plan/projects/project-of.ts'
import type { FetchJobs } from './jobs.ts'

/** Fetches a Source, in a thread of its own or in place. */
export type FetchSourcePort = (request: FetchRequest, signal: AbortSignal) => Promise<FetchOutcome>

/** The ports of source-fetch. */
export interface SourceFetchPorts {
  readonly fetch: FetchSourcePort
  readonly jobs: FetchJobs
  /** Why the Project of the Source's namespace refuses it. */
  refusalOf(source: Source): Refusal | undefined
  /** Whose turn the fetches of a namespace take. */
  tenantOf(namespace: string): string
  secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret | undefined>
  /** Keys of ssh servers that the hub knows, for Secrets without `known_hosts`. */
  knownHosts(signal: AbortSignal): Promise<string | undefined>
  /** The hub's rewrite rules. */
  mirrors(signal: AbortSignal): Promise<readonly Mirror[]>
}
