/** What the main thread and its threads say to each other; plain data only. */
import type { TokenKeys } from '../../apiserver/tokens/jwt.ts'
import type { BlobsConfig } from '../../blobs/open-blobs.ts'
import type { OidcSettings } from '../../client/oidc/oidc-settings.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { EgressRules } from '../../core/text/egress.ts'
import type { WorkProgress } from '../../core/async/work-guard.ts'
import type { CertificateAndKey } from '../../core/crypto/x509.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { VariantsRequest, VariantsResult } from '../../render/bundle/render-variants.ts'
import type { FetchOutcome, FetchRequest } from '../../source/fetch-request.ts'
import type { GitProgram } from '../../source/git/run-git.ts'
import type { HubTrust } from '../../wire/trust/hub-keys.ts'
import type { ListenAddress } from '../http/listen-address.ts'
import type { LogLevel } from '../logger.ts'
import type { PlainConnection } from './plain-connection.ts'
import type { SealingKeyData } from '../keys/sealing-keys.ts'
import type { FrontProxy } from '../view/front-proxy.ts'
import type { DialectName } from '../home/dialect-names.ts'

/** What the API thread gets. */
export interface ApiInit {
  readonly listen: ListenAddress
  readonly database: string
  /** They seal Secrets at rest; the first one seals. */
  readonly sealingKeys: readonly [SealingKeyData, ...SealingKeyData[]]
  readonly server: CertificateAndKey
  /** The folder of blobs. */
  readonly blobs: string
  /** PEM of the CA whose certificates say who a caller is. */
  readonly clientCa: string
  /** PEM of the keys of service accounts' tokens; the first one signs. */
  readonly tokenKeys: TokenKeys
  /** The issuer whose users may use the API. */
  readonly oidc?: OidcSettings
  /** Whose rows are served besides; by name. */
  readonly dialects: readonly DialectName[]
  readonly logLevel: LogLevel
  /** Why the hub is not ready; absent when all of its parts run. */
  readonly notReady?: string | undefined
}

/** Settings of the API thread that change while it runs. */
export interface ApiSettings {
  readonly server: CertificateAndKey
  /** Why the hub is not ready; undefined when all of its parts run. */
  readonly notReady: string | undefined
}

/** What the API thread says when it listens. */
export interface ApiReady {
  readonly port: number
}

/** What a gateway proves itself and its agents with; no key that signs documents. */
export interface GatewayKeys {
  readonly server: CertificateAndKey
  readonly transportCa: CertificateAndKey
  readonly trust: Pick<HubTrust, 'root' | 'envelopes' | 'newest'>
}

/** What changes while a gateway runs. */
export interface GatewaySettings extends GatewayKeys {
  /** Why the hub is in maintenance; absent while it works. */
  readonly maintenance?: string | undefined
}

/** What the gateway thread gets; plain data. */
export interface GatewayInit extends GatewaySettings {
  readonly name: string
  readonly listen: ListenAddress
  readonly api: PlainConnection
  readonly blobs: BlobsConfig
  readonly agentBundle: { readonly file: string; readonly digest: Digest } | undefined
  /** Undefined for the default. */
  readonly evidenceRetentionMs: number | undefined
  readonly logLevel: LogLevel
}

/** Sends all agents to other gateways within this time. Answered when they have left, or after the time. */
export interface GatewayDrain {
  readonly drainMs: number
}

/** What the gateway thread says when it listens. */
export interface GatewayReady {
  readonly port: number
}

/** What the view thread proves itself with, and who passes requests on to it. */
export interface ViewKeys {
  readonly server: CertificateAndKey
  readonly proxy: FrontProxy
}

/** What the view thread gets. */
export interface ViewInit {
  readonly listen: ListenAddress
  readonly keys: ViewKeys
  readonly api: PlainConnection
  readonly blobs: BlobsConfig
  /** Names of the dialects whose projected kinds are served. */
  readonly dialects: readonly DialectName[]
  readonly logLevel: LogLevel
}

/** What the view thread says when it listens. */
export interface ViewReady {
  readonly port: number
}

/** What the source thread gets. */
export interface SourceInit {
  readonly blobs: BlobsConfig
  /** Where caches of repositories are. */
  readonly folder: string
  readonly git: GitProgram
  readonly localPaths: readonly string[]
  readonly egress: EgressRules
}

/** What the render thread gets. */
export interface RenderInit {
  readonly blobs: BlobsConfig
  /** How long the content may take for a cluster, in milliseconds. */
  readonly timeLimitMs: number
}

/** What a thread of agents gets. */
export interface PushInit {
  /** Directory with a folder for each cluster. */
  readonly folder: string
  /** `https://…` of the gateway of this process. */
  readonly gateway: string
  /** Which servers agents may connect to. */
  readonly egress: EgressRules
  /** The account that agents create for themselves. */
  readonly account: { readonly namespace: string; readonly name: string; readonly objects: readonly KubeObject[] }
  readonly logLevel: LogLevel
}

/** A cluster whose agent runs in a thread. */
export interface PlainPushTarget {
  readonly name: string
  readonly clusterId: string
  readonly credential: PlainConnection
}

/** What a thread of agents is asked; each call is answered with the states that it asks for. */
export type PushCall =
  | { readonly do: 'run'; readonly target: PlainPushTarget }
  | { readonly do: 'stop'; readonly name: string }
  | { readonly do: 'states' }

export interface PushedClusterState {
  readonly name: string
  readonly reason: string
  readonly message: string
}

/** What each thread is started with, says when it is ready, is asked and answers. */
export interface ThreadProtocol {
  /** Called with new settings. */
  readonly api: Shape<ApiInit, ApiReady, ApiSettings, undefined>
  /** Called with new settings, and before it closes. */
  readonly gateway: Shape<GatewayInit, GatewayReady, GatewaySettings | GatewayDrain, undefined>
  readonly render: Shape<RenderInit, undefined, VariantsRequest, VariantsResult>
  /** Called with new keys. */
  readonly view: Shape<ViewInit, ViewReady, ViewKeys, undefined>
  readonly source: Shape<SourceInit, undefined, FetchRequest, FetchOutcome>
  readonly push: Shape<PushInit, undefined, PushCall, PushedClusterState[]>
}

interface Shape<Init, Ready, Call = never, Answer = never> {
  readonly init: Init
  readonly ready: Ready
  readonly call: Call
  readonly answer: Answer
}

/** The threads of a hub. */
export type ThreadName = keyof ThreadProtocol

/** From the main thread. */
export type ToThread<N extends ThreadName> =
  | { readonly type: 'close' }
  | { readonly type: 'call'; readonly id: number; readonly input: ThreadProtocol[N]['call'] }
  | { readonly type: 'metrics'; readonly id: number }
  | { readonly type: 'ping'; readonly id: number }
  | { readonly type: 'cancel'; readonly id: number }

/** From a thread. */
export type FromThread<N extends ThreadName> =
  | { readonly type: 'ready'; readonly value: ThreadProtocol[N]['ready'] }
  | { readonly type: 'answer'; readonly id: number; readonly value: ThreadProtocol[N]['answer'] }
  | { readonly type: 'progress'; readonly id: number; readonly progress: WorkProgress }
  | { readonly type: 'metrics'; readonly id: number; readonly text: string }
  | { readonly type: 'pong'; readonly id: number }
  /** A process group that the thread started, or that has ended. */
  | { readonly type: 'process'; readonly group: number; readonly isRunning: boolean }
  | { readonly type: 'refusal'; readonly id: number; readonly message: string }
