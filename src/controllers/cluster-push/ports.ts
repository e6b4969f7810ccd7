import type { Connection } from '../../client/connection.ts'
import type { Secret } from '../../kinds/builtin/core.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'

/** The state of an agent that the hub runs; condition Pushed gets this `reason` and `message`. */
export interface PushState {
  readonly reason: string
  readonly message: string
}

/** A cluster whose agent the hub runs. */
export interface PushTarget {
  readonly name: string
  readonly clusterId: string
  /** The user's credential. */
  readonly credential: Connection
}

/** The agents that the hub runs. */
export interface PushedAgentsPort {
  /** The public keys of the agent, created if they are missing; `clusterId` is empty before the registration. */
  keysOf(name: string, clusterId: string): Promise<{ readonly identityKey: string; readonly sealingKey: string }>
  /** Runs an agent, or gives the running agent the newest credential. */
  run(target: PushTarget): void
  stop(name: string): void
  /** Stops the agent and deletes its files. */
  forget(name: string): void
  stateOf(name: string): PushState | undefined
  /** Calls back with the name of a cluster whose state changed; returns how to stop that. */
  onChange(changed: (name: string) => void): () => void
}

/** The ports of cluster-push. */
export interface ClusterPushPorts {
  /** Undefined on a hub that runs no agents (`--no-push`). */
  readonly agents: PushedAgentsPort | undefined
  secretOf(at: NonNullable<Cluster['spec']['kubeconfigSecret']>, signal: AbortSignal): Promise<Secret | undefined>
  newClusterId(): string
  /** The agent in the cluster that joined with a token to take over, and the name of the token. */
  joinedAgent(name: string): JoinedAgent | undefined
}

/** An agent that replaces the one that the hub runs. */
export interface JoinedAgent {
  readonly joinToken: string
  readonly identityKey: string
  readonly sealingKey: string
}
