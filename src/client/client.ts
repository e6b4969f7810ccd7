import type { KubeObject, ObjectKey, ResourceType } from '../kinds/meta.ts'

/** What a list or watch selects. */
export interface ListOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

/** What a watch selects: where it begins, and after how long the server should end it. */
export interface WatchOptions extends ListOptions {
  readonly resourceVersion: string
  readonly timeoutSeconds?: number
}

/** A page of objects, consistent at one resourceVersion. */
export interface ListPage<T> {
  readonly items: readonly T[]
  readonly resourceVersion: string
  readonly continue?: string
}

/** An event of a watch. An Expired watch throws ApiError Expired: list again. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }

/** How to write. */
export interface WriteOptions {
  readonly fieldManager?: string
  readonly dryRun?: boolean
  readonly subresource?: 'status' | 'scale'
  readonly signal?: AbortSignal
}

/** Server-side apply: who applies, and whether conflicts are overruled. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  readonly force?: boolean
}

/** How to delete; preconditions make it safe against recreated objects. */
export interface DeleteOptions {
  readonly uid?: string
  readonly resourceVersion?: string
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  /** For pods: how long they have to end; 0 says that they have. */
  readonly gracePeriodSeconds?: number
  readonly dryRun?: boolean
  readonly signal?: AbortSignal
}

/** Reads; ask for this where nothing is written. Refusals are ApiErrors. */
export interface Reader {
  get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, signal?: AbortSignal): Promise<T>
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions, signal?: AbortSignal): Promise<ListPage<T>>
  /** Events after `resourceVersion`, until the server ends the stream (then resume) or the signal is aborted. */
  watch<T extends KubeObject>(
    type: ResourceType<T>,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>>
}

/** Reads and writes, the same against either home. */
export interface Client extends Reader {
  create<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>
  /** Replaces; metadata.resourceVersion is the compare-and-swap. */
  update<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>
  patch<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: PatchBody,
    options?: WriteOptions,
  ): Promise<T>
  apply<T extends KubeObject>(type: ResourceType<T>, object: T, options: ApplyOptions): Promise<T>
  delete(type: ResourceType<KubeObject>, key: ObjectKey, options?: DeleteOptions): Promise<void>
}

/** The patch forms of the Kubernetes API. */
export type PatchBody =
  | { readonly type: 'json'; readonly operations: readonly object[] }
  | { readonly type: 'merge' | 'strategic'; readonly body: object }
