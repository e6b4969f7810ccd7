/** What can be seen of an agent where it runs, for whoever decides whether it can work there. */

/** The directory with the agent's keys and content. */
export interface DataFacts {
  readonly folder: string
  readonly trouble?: string
  /** Whether others than its owner may look into it. */
  readonly isOpen?: boolean
  readonly freeBytes?: number
}

/** Who the agent is. */
export interface IdentityFacts {
  /** Why that is not known. */
  readonly trouble?: string
  readonly clusterId?: string
  readonly clusterName?: string
  readonly root?: string
  readonly trust?: { readonly version: number; readonly leastVersion: string; readonly isTooOld: boolean }
  readonly certificate?: { readonly endsMs: number; readonly renewMs: number; readonly isOfHub: boolean }
}

/** What it follows. */
export interface DocumentFacts {
  readonly trouble?: string
  readonly held?: { readonly epoch: number; readonly revision: number; readonly lacking: readonly string[] }
  readonly refusal?: { readonly reason: string; readonly message: string }
}

/** What was learned of one address. */
export interface GatewayFacts {
  readonly endpoint: string
  /** The proxy on the way, without its password. */
  readonly proxy?: string
  /** Nobody answered, or not so that it could be understood. */
  readonly trouble?: string
  /** It answered, but its certificate is of no CA that this agent knows; the root tells whether it is the hub. */
  readonly isUnknownCa?: boolean
  /** Its root is not the one that the join code pinned. */
  readonly otherRoot?: string
  /** Its clock minus this machine's. */
  readonly skewMs?: number
  /** Versions of its trust bundle that the agent has not taken yet. */
  readonly newerTrust?: number
}

/** One thing that somebody may or may not do. */
export interface Right {
  readonly verb: string
  /** `deployments.apps`. */
  readonly resource: string
  readonly namespace?: string
}

/** Somebody in whose name bundles are applied. */
export interface ExecutorRights {
  /** `namespace/name` of a ServiceAccount; undefined: the agent itself. */
  readonly executor?: string
  readonly bundles: readonly string[]
  /** How many rights were asked about. */
  readonly asked: number
  readonly denied: readonly Right[]
  /** Why nothing could be asked, such as that the agent may not act as it. */
  readonly trouble?: string
}

/** The cluster, seen with the agent's credentials. */
export interface ClusterRights {
  readonly server: string
  readonly trouble?: string
  readonly version?: string
  /** What the agent needs for itself and may not. */
  readonly lacking?: readonly Right[]
  /** What it would use and goes without. */
  readonly missed?: readonly Right[]
  readonly executors?: readonly ExecutorRights[]
  /** Kinds and namespaces that were not asked about, for there are too many. */
  readonly unasked?: number
}

/** All that was seen of an agent. */
export interface AgentFacts {
  readonly version: string
  readonly data: DataFacts
  readonly identity: IdentityFacts
  readonly gateways: readonly GatewayFacts[]
  readonly document: DocumentFacts
  readonly cluster: ClusterRights
}
