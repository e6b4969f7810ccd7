/** Facts about an agent on its own machine, for the checks of `flotilla check --agent`. */

/** The directory with the agent's keys and content. */
export interface DataFacts {
  readonly folder: string
  readonly trouble?: string
  /** Whether users other than its owner can read it. */
  readonly isOpen?: boolean
  readonly freeBytes?: number
}

/** The agent's identity. */
export interface IdentityFacts {
  /** Why the identity cannot be read. */
  readonly trouble?: string
  readonly clusterId?: string
  readonly clusterName?: string
  readonly root?: string
  readonly trust?: { readonly version: number; readonly leastVersion: string; readonly isTooOld: boolean }
  readonly certificate?: { readonly endsMs: number; readonly renewMs: number; readonly isOfHub: boolean }
}

/** The agent's document. */
export interface DocumentFacts {
  readonly trouble?: string
  readonly held?: { readonly epoch: number; readonly revision: number; readonly lacking: readonly string[] }
  readonly refusal?: { readonly reason: string; readonly message: string }
}

/** The result of a connection to one gateway. */
export interface GatewayFacts {
  readonly endpoint: string
  /** The proxy in between, without its password. */
  readonly proxy?: string
  /** The gateway did not answer, or not with a valid response. */
  readonly trouble?: string
  /** The certificate is signed by no CA that this agent knows; the root key decides whether it is the hub. */
  readonly isUnknownCa?: boolean
  /** The root differs from the root that the join code pinned. */
  readonly otherRoot?: string
  /** The gateway's clock minus this machine's clock. */
  readonly skewMs?: number
  /** Number of trust bundle versions that the agent has not accepted yet. */
  readonly newerTrust?: number
}

/** A permission. */
export interface Right {
  readonly verb: string
  /** `deployments.apps`. */
  readonly resource: string
  readonly namespace?: string
}

/** The permissions of an executor. */
export interface ExecutorRights {
  /** `namespace/name` of a ServiceAccount; undefined: the agent itself. */
  readonly executor?: string
  readonly bundles: readonly string[]
  /** Number of permissions that were checked. */
  readonly asked: number
  readonly denied: readonly Right[]
  /** Missing permissions to list and watch: without them, the agent reads the objects in turn. */
  readonly unwatched?: readonly Right[]
  /** Why nothing could be checked, for example because the agent may not impersonate the executor. */
  readonly trouble?: string
}

/** The cluster, seen with the agent's credentials. */
export interface ClusterRights {
  readonly server: string
  readonly trouble?: string
  readonly version?: string
  /** Missing permissions that the agent needs. */
  readonly lacking?: readonly Right[]
  /** Missing permissions that the agent can work without. */
  readonly missed?: readonly Right[]
  readonly executors?: readonly ExecutorRights[]
  /** Number of kinds and namespaces that were not checked, because there are too many. */
  readonly unasked?: number
}

/** All facts about an agent. */
export interface AgentFacts {
  readonly version: string
  readonly data: DataFacts
  readonly identity: IdentityFacts
  readonly gateways: readonly GatewayFacts[]
  readonly document: DocumentFacts
  readonly cluster: ClusterRights
}
