/** Health of common custom resources that do not follow kstatus: a table of their phases and conditions. */
import type { JsonObject } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { conditionOf, conditionMessage } from './conditions.ts'
import type { Health } from './object-health.ts'

/** Phases of a status by meaning; other phases are Progressing. */
interface Phases {
  readonly ready: readonly string[]
  readonly failed: readonly string[]
  /** Field of the phase. Defaults to `phase`. */
  readonly field?: string
}

const PHASES: Readonly<Record<string, Phases>> = {
  'argoproj.io/Rollout': { ready: ['Healthy'], failed: ['Degraded'] },
  'argoproj.io/Workflow': { ready: ['Succeeded'], failed: ['Failed', 'Error'] },
  'argoproj.io/AnalysisRun': { ready: ['Successful'], failed: ['Failed', 'Error', 'Inconclusive'] },
  'flagger.app/Canary': { ready: ['Initialized', 'Succeeded'], failed: ['Failed'] },
  'cluster.x-k8s.io/Cluster': { ready: ['Provisioned'], failed: ['Failed'] },
  'cluster.x-k8s.io/Machine': { ready: ['Running'], failed: ['Failed'] },
  'cluster.x-k8s.io/MachineDeployment': { ready: ['Running'], failed: ['Failed'] },
  'cluster.x-k8s.io/MachineSet': { ready: ['Running'], failed: ['Failed'] },
  'acid.zalan.do/postgresql': {
    ready: ['Running'],
    failed: ['CreateFailed', 'UpdateFailed'],
    field: 'PostgresClusterStatus',
  },
  'postgresql.cnpg.io/Cluster': { ready: ['Cluster in healthy state'], failed: ['Unrecoverable'] },
  'velero.io/BackupStorageLocation': { ready: ['Available'], failed: ['Unavailable'] },
}

/** The condition of a healthy object, and reasons or conditions that are failures. */
interface Conditions {
  readonly ready: string
  readonly failedReasons?: readonly string[]
  /** A condition of this type that is True is a failure. */
  readonly failed?: string
}

const CONDITIONS: Readonly<Record<string, Conditions>> = {
  'cert-manager.io/Certificate': { ready: 'Ready', failedReasons: ['Failed', 'Denied', 'InvalidRequest'] },
  'cert-manager.io/CertificateRequest': { ready: 'Ready', failedReasons: ['Failed', 'Denied'] },
  'cert-manager.io/Issuer': { ready: 'Ready', failedReasons: ['ErrRegisterACMEAccount', 'ErrInitIssuer'] },
  'cert-manager.io/ClusterIssuer': { ready: 'Ready', failedReasons: ['ErrRegisterACMEAccount', 'ErrInitIssuer'] },
  'external-secrets.io/ExternalSecret': { ready: 'Ready', failedReasons: ['SecretSyncedError'] },
  'external-secrets.io/SecretStore': { ready: 'Ready', failedReasons: ['InvalidProviderConfig', 'ValidationFailed'] },
  'external-secrets.io/ClusterSecretStore': {
    ready: 'Ready',
    failedReasons: ['InvalidProviderConfig', 'ValidationFailed'],
  },
  'bitnami.com/SealedSecret': { ready: 'Synced', failedReasons: ['DecryptionError'] },
  'kafka.strimzi.io/Kafka': { ready: 'Ready', failed: 'NotReady' },
  'kafka.strimzi.io/KafkaTopic': { ready: 'Ready', failed: 'NotReady' },
  'monitoring.coreos.com/Prometheus': { ready: 'Available' },
  'monitoring.coreos.com/Alertmanager': { ready: 'Available' },
  'serving.knative.dev/Service': { ready: 'Ready' },
  'keda.sh/ScaledObject': { ready: 'Ready', failedReasons: ['ScaledObjectCheckFailed'] },
  'gateway.networking.k8s.io/Gateway': { ready: 'Programmed', failedReasons: ['Invalid', 'NoResources'] },
  'autoscaling/HorizontalPodAutoscaler': {
    ready: 'AbleToScale',
    failedReasons: ['FailedGetScale', 'FailedUpdateScale'],
  },
}

/** The health of an object; undefined when its kind is not in the tables, or it has no phase yet. */
export function knownHealth(object: UnknownObject, status: JsonObject): Health | undefined {
  const name = `${object.apiVersion.split('/')[0]}/${object.kind}`
  const phases = PHASES[name]
  if (phases) return byPhase(phases, status)
  const conditions = CONDITIONS[name]
  if (conditions) return byCondition(conditions, status)
  return name === 'argoproj.io/Application' ? application(status) : undefined
}

function byPhase({ ready, failed, field = 'phase' }: Phases, status: JsonObject): Health | undefined {
  const phase = status[field]
  if (typeof phase !== 'string') return undefined
  if (ready.includes(phase)) return { state: 'Ready', message: '' }
  const message = conditionMessage(status, `its phase is ${phase}`)
  return { state: failed.includes(phase) ? 'Failed' : 'Progressing', message }
}

function byCondition(rules: Conditions, status: JsonObject): Health {
  const bad = rules.failed === undefined ? undefined : conditionOf(status, rules.failed)
  if (bad?.['status'] === 'True') return { state: 'Failed', message: conditionMessage(bad, `it is ${rules.failed}`) }
  const condition = conditionOf(status, rules.ready)
  if (condition?.['status'] === 'True') return { state: 'Ready', message: '' }
  const reason = condition?.['reason']
  const isFailed = condition?.['status'] === 'False' && rules.failedReasons?.some((known) => known === reason)
  return {
    state: isFailed ? 'Failed' : 'Progressing',
    message: conditionMessage(condition, `it is not ${rules.ready} yet`),
  }
}

function application(status: JsonObject): Health {
  const health = isObject(status['health']) ? status['health'] : {}
  const how = typeof health['status'] === 'string' ? health['status'] : 'not known yet'
  if (how === 'Healthy' || how === 'Suspended') return { state: 'Ready', message: '' }
  return {
    state: how === 'Degraded' ? 'Failed' : 'Progressing',
    message: conditionMessage(health, `its health is ${how}`),
  }
}
