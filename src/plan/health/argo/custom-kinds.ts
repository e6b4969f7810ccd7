// Tested by src/plan/health/argo/argo-health.test.ts
/** Health of common custom resources as Argo CD sees it: tables of conditions and phases. */
import { isObject } from '../../../core/json.ts'
import type { ArgoState, ArgoVerdict, Parts } from './verdict.ts'
import { countOf, textOf } from './verdict.ts'

/** The health of a kind. */
export type KindHealth = (parts: Parts) => ArgoVerdict

/** A condition that decides. Without a message, that of the condition counts. */
interface ConditionRow {
  readonly type: string
  readonly status: string
  readonly reasons?: readonly string[]
  readonly exceptReasons?: readonly string[]
  readonly state: ArgoState
  readonly message?: string
}

/** The first row that a condition matches decides; otherwise the object is in progress. */
function byConditions(rows: readonly ConditionRow[], waiting: string): KindHealth {
  return ({ conditions }) => {
    for (const { type, status, reasons, exceptReasons, state, message } of rows) {
      const found = conditions.find(
        (one) =>
          one['type'] === type &&
          one['status'] === status &&
          reasons?.includes(textOf(one['reason'])) !== false &&
          exceptReasons?.includes(textOf(one['reason'])) !== true,
      )
      if (found) return { status: state, message: message ?? (textOf(found['message']) || textOf(found['reason'])) }
    }
    return { status: 'Progressing', message: waiting }
  }
}

/** A condition that is True when the object is healthy, and False when it has failed. */
function byCondition(type: string, waiting: string): KindHealth {
  return byConditions(
    [
      { type, status: 'False', state: 'Degraded' },
      { type, status: 'True', state: 'Healthy' },
    ],
    waiting,
  )
}

interface Phases {
  /** The field of the phase. Defaults to `phase`. */
  readonly field?: string
  readonly states: Readonly<Record<string, ArgoState>>
  /** The state of other phases. Defaults to Progressing. */
  readonly other?: ArgoState
  readonly waiting: string
  readonly paused?: string
}

/** The phase decides; the message is that of the status, or the phase. */
function byPhase({ field = 'phase', states, other = 'Progressing', waiting, paused }: Phases): KindHealth {
  return ({ spec, status }) => {
    if (paused !== undefined && spec['paused'] === true) return { status: 'Suspended', message: paused }
    const phase = textOf(status[field])
    if (phase === '') return { status: 'Progressing', message: waiting }
    return { status: states[phase] ?? other, message: textOf(status['message']) || phase }
  }
}

/** Flux's objects: enough of their conditions must be True. */
function byFlux(needed: number, counted: readonly string[]): KindHealth {
  return ({ object, spec, hasStatus, conditions }) => {
    if (spec['suspend'] === true) return { status: 'Suspended', message: `${textOf(object['kind'])} is suspended` }
    if (!hasStatus || conditions.length === 0) return { status: 'Progressing', message: 'Status unknown' }
    const has = (type: string, status: string) =>
      conditions.some((one) => one['type'] === type && one['status'] === status)
    const ready = conditions.find(({ type }) => type === 'Ready')
    const message = textOf(ready?.['reason'])
    if (has('Ready', 'Unknown') && has('Reconciling', 'True')) return { status: 'Progressing', message }
    const succeeded = ['Ready', ...counted].filter((type) => has(type, 'True')).length
    return { status: succeeded === needed ? 'Healthy' : 'Degraded', message }
  }
}

/** KEDA's objects; of a ScaledJob, an unknown readiness is a failure. */
function scaling(failures: readonly string[], waiting: string): KindHealth {
  return ({ conditions }) => {
    const has = (type: string, status: string) =>
      conditions.find((one) => one['type'] === type && one['status'] === status)
    const failed = has('Fallback', 'True') ?? conditions.find(isFailing)
    if (failed) return { status: 'Degraded', message: textOf(failed['message']) }
    const ready = has('Ready', 'True')
    const paused = has('Paused', 'True')
    if (!ready) return { status: 'Progressing', message: waiting }
    return { status: paused ? 'Suspended' : 'Healthy', message: textOf((paused ?? ready)['message']) }
  }

  function isFailing({ type, status }: Readonly<Record<string, unknown>>): boolean {
    return type === 'Ready' && failures.includes(textOf(status))
  }
}

const KNATIVE_TYPES = ['ConfigurationsReady', 'RoutesReady', 'Ready']

const KNATIVE_SERVICE: KindHealth = ({ conditions }) => {
  if (conditions.length === 0) return { status: 'Progressing', message: 'Waiting for status update.' }
  const isTrue = (type: string) => conditions.some((one) => one['type'] === type && one['status'] === 'True')
  const open = conditions.filter(({ status }) => status === 'False' || status === 'Unknown')
  if (open.length === 0 && KNATIVE_TYPES.every(isTrue)) {
    return { status: 'Healthy', message: 'Knative Service is healthy.' }
  }
  const message = open.map(describeOpen).join('')
  return { status: open.some(({ status }) => status === 'False') ? 'Degraded' : 'Progressing', message }
}

function describeOpen(condition: Readonly<Record<string, unknown>>): string {
  const [type, status, reason, message] = ['type', 'status', 'reason', 'message'].map((field) =>
    textOf(condition[field]),
  )
  return `${type} is ${status}${reason === '' ? '' : `, since ${reason}.`}${message === '' ? '' : ` ${message}`}\n`
}

const MACHINE: KindHealth = (parts) => {
  const phase = textOf(parts.status['phase'])
  if (phase === 'Running') return { status: 'Healthy', message: 'Machine is running' }
  const ready = parts.conditions.find(({ type, status }) => type === 'Ready' && status === 'False')
  const message = textOf(ready?.['message']) || 'Condition is unknown'
  return { status: phase === 'Failed' ? 'Degraded' : 'Progressing', message }
}

const API_CLUSTER: KindHealth = ({ spec, status, conditions }) => {
  if (spec['paused'] === true) return { status: 'Suspended', message: 'Cluster is paused' }
  const failing = conditions.find(
    (one) => one['type'] === 'Ready' && one['status'] === 'False' && one['severity'] !== 'Info',
  )
  if (failing) return { status: 'Degraded', message: textOf(failing['message']) }
  switch (status['phase']) {
    case 'Provisioned':
      return { status: 'Healthy', message: 'Cluster is running' }
    case 'Failed':
      return { status: 'Degraded', message: '' }
    default:
      return { status: 'Progressing', message: 'Waiting for clusters' }
  }
}

const POSTGRES_PHASES: Readonly<Record<string, ArgoState>> = {
  'Cluster in healthy state': 'Healthy',
  'Setting up primary': 'Progressing',
  'Creating a new replica': 'Progressing',
  'Upgrading cluster': 'Progressing',
  'Waiting for the instances to become active': 'Progressing',
  'Promoting to primary cluster': 'Progressing',
  'Switchover in progress': 'Degraded',
  'Failing over': 'Degraded',
  'Upgrading Postgres major version': 'Degraded',
  'Cluster upgrade delayed': 'Degraded',
  'Waiting for user action': 'Degraded',
  'Primary instance is being restarted in-place': 'Degraded',
  'Primary instance is being restarted without a switchover': 'Degraded',
  'Cluster cannot execute instance online upgrade due to missing architecture binary': 'Degraded',
  'Online upgrade in progress': 'Degraded',
  'Applying configuration': 'Degraded',
  'Unable to create required cluster objects': 'Suspended',
  'Cluster cannot proceed to reconciliation due to an unknown plugin being required': 'Suspended',
  'Cluster has incomplete or invalid image catalog': 'Suspended',
  'Cluster is unrecoverable and needs manual intervention': 'Suspended',
}

const POSTGRES: KindHealth = ({ metadata, status, conditions }) => {
  const { annotations } = metadata
  if (isObject(annotations) && annotations['cnpg.io/reconciliationLoop'] === 'disabled') {
    return { status: 'Suspended', message: 'Cluster reconciliation is suspended' }
  }
  const hibernation = conditions.find(({ type }) => type === 'cnpg.io/hibernation')
  if (hibernation) {
    const isAsleep = hibernation['status'] === 'True'
    return { status: isAsleep ? 'Suspended' : 'Degraded', message: textOf(hibernation['message']) }
  }
  const message = textOf(status['phaseReason'])
  if (!Array.isArray(status['conditions'])) return { status: 'Progressing', message }
  return { status: POSTGRES_PHASES[textOf(status['phase'])] ?? 'Unknown', message }
}

const MARIADB: KindHealth = ({ status, conditions }) => {
  if (!Array.isArray(status['conditions'])) return { status: 'Progressing', message: 'No status info available' }
  const open = conditions.find((one) => one['status'] === 'False')
  if (open) {
    return { status: open['reason'] === 'Failed' ? 'Degraded' : 'Progressing', message: textOf(open['message']) }
  }
  return { status: 'Healthy', message: textOf(conditions.at(-1)?.['message']) }
}

const ELASTIC_HEALTH: Readonly<Record<string, readonly [ArgoState, string]>> = {
  green: ['Healthy', 'Elasticsearch Cluster status is Green'],
  yellow: ['Progressing', 'Elasticsearch Cluster status is Yellow. Check the status of indices, replicas and shards'],
  red: ['Degraded', 'Elasticsearch Cluster status is Red. Check the status of indices, replicas and shards'],
}
const ELASTIC_PHASES: Readonly<Record<string, ArgoState>> = {
  ApplyingChanges: 'Progressing',
  MigratingData: 'Progressing',
  Invalid: 'Degraded',
}

const ELASTICSEARCH: KindHealth = ({ spec, status }) => {
  const unknown = { status: 'Unknown', message: 'Elasticsearch Cluster status is unknown' } as const
  const { availableNodes, phase, health, nodeSets = spec['nodeSets'] } = status
  if (typeof availableNodes !== 'number') return unknown
  const wanted = (Array.isArray(nodeSets) ? nodeSets.filter(isObject) : []).reduce(
    (sum, { count }) => sum + countOf(count),
    0,
  )
  if (availableNodes < wanted) {
    const message = `The desired amount of availableNodes is ${wanted} but the current amount is ${availableNodes}`
    return { status: 'Progressing', message }
  }
  if (availableNodes > wanted || health === undefined) return unknown
  const [state, message] = (phase === 'Ready' && ELASTIC_HEALTH[textOf(health)]) || []
  if (state !== undefined) return { status: state, message: message! }
  const other = ELASTIC_PHASES[textOf(phase)]
  return other === undefined ? unknown : { status: other, message: `Elasticsearch phase is ${textOf(phase)}` }
}

const RABBITMQ: KindHealth = ({ conditions }) => {
  const find = (type: string) => conditions.find((one) => one['type'] === type)
  const failed = find('ReconcileSuccess')
  if (failed?.['status'] === 'False') return { status: 'Degraded', message: textOf(failed['message']) }
  const [available, replicas] = [find('ClusterAvailable')?.['status'], find('AllReplicasReady')?.['status']]
  const waiting = (message: string): ArgoVerdict => ({ status: 'Progressing', message })
  if (available === 'Unknown' || replicas === 'Unknown') {
    return waiting('Waiting for RabbitMQ cluster readiness (conditions unknown)')
  }
  if (available === 'False') return waiting('Waiting for RabbitMQ cluster formation')
  if (replicas === 'False') return waiting('Waiting for RabbitMQ instances ready')
  if (available === 'True' && replicas === 'True') return { status: 'Healthy', message: 'RabbitMQ cluster ready' }
  return waiting('Waiting for RabbitMQ Operator')
}

const VIRTUAL_MACHINE: KindHealth = ({ status, conditions }) => {
  const shown = textOf(status['printableStatus'])
  if (conditions.some((one) => one['type'] === 'Paused' && one['status'] === 'True')) {
    return { status: 'Suspended', message: 'Paused' }
  }
  const ready = conditions.find(({ type }) => type === 'Ready')
  if (!ready) return { status: 'Progressing', message: shown || 'No status available' }
  if (ready['status'] === 'True') return { status: 'Healthy', message: shown || 'Running' }
  if (status['created'] === true) return { status: 'Progressing', message: shown || 'Starting' }
  return { status: 'Suspended', message: shown || 'Stopped' }
}

const DATA_VOLUME: KindHealth = ({ status, conditions }) => {
  const phase = textOf(status['phase'])
  if (phase === 'Succeeded') return { status: 'Healthy', message: phase }
  if (phase === 'Paused') return { status: 'Suspended', message: phase }
  const broken = conditions.find(
    (one) => one['type'] === 'Running' && one['status'] === 'False' && one['reason'] === 'Error',
  )
  if (broken) return { status: 'Degraded', message: textOf(broken['message']) }
  const isFailed = phase === 'Failed' || phase === 'Unknown'
  return { status: isFailed ? 'Degraded' : 'Progressing', message: phase || 'No status available' }
}

const VOLUME_SNAPSHOT: KindHealth = ({ status }) => {
  if (status['readyToUse'] === true) return { status: 'Healthy', message: 'Ready to use' }
  if (isObject(status['error'])) return { status: 'Degraded', message: textOf(status['error']['message']) }
  return { status: 'Progressing', message: 'Waiting for status' }
}

const GRAFANA: KindHealth = ({ status }) => {
  const [stage, stageStatus] = [textOf(status['stage']), textOf(status['stageStatus'])]
  if (stageStatus === '') return { status: 'Progressing', message: 'Waiting for Grafana status info' }
  if (stageStatus === 'failed') return { status: 'Degraded', message: `Failed at stage ${stage}` }
  if (stage === 'complete' && stageStatus === 'success') return { status: 'Healthy', message: '' }
  return { status: 'Progressing', message: stage }
}

/** The conditions of a Gateway, and then those of each listener. */
const GATEWAY: KindHealth = ({ status, conditions }) => {
  const listeners = Array.isArray(status['listeners']) ? status['listeners'].filter(isObject) : []
  const judged = [
    { of: conditions, prefix: '', what: 'Gateway' },
    ...listeners.map((listener) => ({
      of: Array.isArray(listener['conditions']) ? listener['conditions'].filter(isObject) : [],
      prefix: 'Listener: ',
      what: 'Listener',
    })),
  ]
  for (const { of, prefix, what } of judged) {
    for (const type of ['ResolvedRefs', 'Accepted']) {
      const failed = of.find((one) => one['type'] === type && one['status'] === 'False')
      if (failed)
        return { status: 'Degraded', message: prefix + (textOf(failed['message']) || `Failed condition: ${type}`) }
    }
    const open = of.find((one) => one['type'] === 'Programmed' && one['status'] !== 'True')
    if (open) {
      const message = prefix + (textOf(open['message']) || `${what} is still being programmed`)
      return { status: 'Progressing', message }
    }
  }
  if (conditions.length === 0 && listeners.length === 0) {
    return { status: 'Progressing', message: 'Waiting for Gateway status' }
  }
  return { status: 'Healthy', message: 'Gateway is healthy' }
}

const CEPH_CLUSTER: KindHealth = ({ status, hasStatus }) => {
  if (!hasStatus) return { status: 'Progressing', message: 'Waiting for status to be reported' }
  const ceph = isObject(status['ceph']) ? status['ceph'] : {}
  const health = textOf(ceph['health'])
  const details = isObject(ceph['details'])
    ? Object.entries(ceph['details']).toSorted(([a], [b]) => (a < b ? -1 : 1))
    : []
  const told = details.flatMap(([, detail]) =>
    isObject(detail) && detail['message'] ? [textOf(detail['message'])] : [],
  )
  const messages = health === '' ? [] : [`Ceph health is ${health}${told.length === 0 ? '' : ` (${told.join('; ')})`}`]
  let state: ArgoState =
    health === 'HEALTH_OK' ? 'Healthy' : /^HEALTH_(ERR|WARN)$/.test(health) ? 'Degraded' : 'Progressing'
  const cluster = textOf(status['state'])
  if (state === 'Healthy' && cluster !== '') {
    messages.push(`Ceph cluster state is ${cluster}`)
    state = ['Created', 'Connected'].includes(cluster) ? 'Healthy' : cluster === 'Error' ? 'Degraded' : 'Progressing'
  }
  return { status: state, message: [...messages, textOf(status['message'])].filter(Boolean).join(' - ') }
}

/** Its last condition counts. */
const CLUSTER_EXTERNAL_SECRET: KindHealth = ({ conditions }) => {
  const last = conditions.at(-1)
  const isTrue = last?.['status'] === 'True'
  if (isTrue && last['type'] === 'Ready') return { status: 'Healthy', message: textOf(last['message']) }
  if (isTrue && ['PartiallyReady', 'NotReady'].includes(textOf(last['type']))) {
    return { status: 'Degraded', message: textOf(last['message']) }
  }
  return { status: 'Progressing', message: 'Waiting for ClusterExternalSecret' }
}

const PROMETHEUS = byConditions(
  [
    { type: 'Available', status: 'True', state: 'Healthy', message: 'All instances are available' },
    { type: 'Available', status: 'False', reasons: ['SomePodsNotReady'], state: 'Progressing' },
    { type: 'Available', status: 'Degraded', reasons: ['SomePodsNotReady'], state: 'Progressing' },
    { type: 'Available', status: 'Unknown', reasons: ['SomePodsNotReady'], state: 'Progressing' },
    { type: 'Available', status: 'Degraded', state: 'Degraded' },
    { type: 'Available', status: 'False', state: 'Degraded' },
    { type: 'Available', status: 'Unknown', state: 'Degraded' },
  ],
  'Waiting for initialization',
)

const CERTIFICATE = byConditions(
  [
    { type: 'Issuing', status: 'True', state: 'Progressing' },
    { type: 'Ready', status: 'False', state: 'Degraded' },
    { type: 'Ready', status: 'True', state: 'Healthy' },
  ],
  'Waiting for certificate',
)

function strimzi(what: string): KindHealth {
  const rows: ConditionRow[] = [
    { type: 'NotReady', status: 'True', exceptReasons: ['Creating'], state: 'Degraded' },
    { type: 'Ready', status: 'True', state: 'Healthy', message: '' },
  ]
  return byConditions(rows, `Waiting for ${what}`)
}

const ANALYSIS_RUN = byPhase({
  states: { Successful: 'Healthy', Failed: 'Degraded', Error: 'Degraded', Inconclusive: 'Unknown' },
  waiting: 'Waiting for analysis run to finish: status has not been reconciled.',
})

const APPLICATION_SET = byConditions(
  [
    { type: 'ErrorOccurred', status: 'True', state: 'Degraded' },
    { type: 'ResourcesUpToDate', status: 'False', state: 'Degraded' },
    { type: 'RolloutProgressing', status: 'True', state: 'Progressing' },
    { type: 'ResourcesUpToDate', status: 'True', state: 'Healthy' },
  ],
  'Waiting for the status to be reported',
)

const CANARY = byPhase({
  states: {
    Failed: 'Degraded',
    Initializing: 'Unknown',
    Progressing: 'Progressing',
    Finalising: 'Progressing',
    Promoting: 'Progressing',
    Succeeded: 'Healthy',
    Initialized: 'Healthy',
  },
  other: 'Unknown',
  waiting: 'No status',
})

const CRON_WORKFLOW: KindHealth = ({ conditions }) => {
  const failed = conditions.find(
    (one) => ['SpecError', 'SubmissionError'].includes(textOf(one['type'])) && one['status'] === 'True',
  )
  if (failed) return { status: 'Degraded', message: textOf(failed['message']) }
  return { status: 'Healthy', message: 'CronWorkflow is healthy.' }
}

const VICTORIA: Phases = {
  field: 'updateStatus',
  states: { operational: 'Healthy', expanding: 'Progressing', paused: 'Suspended', failed: 'Degraded' },
  waiting: 'Waiting for the operator to reconcile',
}

/** Health by group and kind. */
export const CUSTOM_KINDS: Readonly<Record<string, KindHealth>> = {
  'acid.zalan.do/postgresql': byPhase({
    field: 'PostgresClusterStatus',
    states: { Running: 'Healthy', Creating: 'Progressing', Updating: 'Progressing' },
    other: 'Degraded',
    waiting: 'Waiting for postgres cluster status...',
  }),
  'argoproj.io/AnalysisRun': ANALYSIS_RUN,
  'argoproj.io/ApplicationSet': APPLICATION_SET,
  'argoproj.io/CronWorkflow': CRON_WORKFLOW,
  'argoproj.io/Workflow': byPhase({
    states: { Succeeded: 'Healthy', Failed: 'Degraded', Error: 'Degraded' },
    waiting: 'Waiting for the workflow to start',
  }),
  'bitnami.com/SealedSecret': byCondition('Synced', 'Waiting for Sealed Secret to be decrypted'),
  'cdi.kubevirt.io/DataVolume': DATA_VOLUME,
  'ceph.rook.io/CephCluster': CEPH_CLUSTER,
  'cert-manager.io/Certificate': CERTIFICATE,
  'cert-manager.io/ClusterIssuer': byCondition('Ready', 'Initializing ClusterIssuer'),
  'cert-manager.io/Issuer': byCondition('Ready', 'Initializing issuer'),
  'cluster.x-k8s.io/Cluster': API_CLUSTER,
  'cluster.x-k8s.io/Machine': MACHINE,
  'cluster.x-k8s.io/MachineDeployment': byPhase({
    states: { Running: 'Healthy', Failed: 'Degraded' },
    waiting: 'Waiting for machines',
    paused: 'MachineDeployment is paused',
  }),
  'elasticsearch.k8s.elastic.co/Elasticsearch': ELASTICSEARCH,
  'external-secrets.io/ClusterExternalSecret': CLUSTER_EXTERNAL_SECRET,
  'external-secrets.io/ClusterSecretStore': byCondition('Ready', 'Waiting for ClusterSecretStore'),
  'external-secrets.io/ExternalSecret': byCondition('Ready', 'Waiting for ExternalSecret'),
  'external-secrets.io/PushSecret': byCondition('Ready', 'Waiting for PushSecret'),
  'external-secrets.io/SecretStore': byCondition('Ready', 'Waiting for SecretStore'),
  'flagger.app/Canary': CANARY,
  'gateway.networking.k8s.io/Gateway': GATEWAY,
  'grafana.integreatly.org/Grafana': GRAFANA,
  'helm.toolkit.fluxcd.io/HelmRelease': byFlux(2, ['Released', 'TestSuccess']),
  'jaegertracing.io/Jaeger': byPhase({
    states: { Running: 'Healthy', Failed: 'Degraded' },
    waiting: 'Waiting for Jaeger',
  }),
  'k8s.mariadb.com/MariaDB': MARIADB,
  'kafka.strimzi.io/Kafka': strimzi('Kafka Cluster'),
  'kafka.strimzi.io/KafkaBridge': strimzi('Kafka Bridge'),
  'kafka.strimzi.io/KafkaConnect': strimzi('Kafka Connect'),
  'kafka.strimzi.io/KafkaConnector': strimzi('Kafka Connector'),
  'kafka.strimzi.io/KafkaTopic': strimzi('Kafka Topic'),
  'kafka.strimzi.io/KafkaUser': strimzi('Kafka User'),
  'karpenter.sh/NodePool': byCondition('Ready', 'Waiting for NodePool to be ready'),
  'keda.sh/ScaledJob': scaling(['False', 'Unknown'], 'Waiting for ScaledJob'),
  'keda.sh/ScaledObject': scaling(['False'], 'Creating HorizontalPodAutoscaler Object'),
  'kubevirt.io/VirtualMachine': VIRTUAL_MACHINE,
  'kustomize.toolkit.fluxcd.io/Kustomization': byFlux(1, []),
  'kyverno.io/Policy': byConditions(
    [{ type: 'Ready', status: 'True', reasons: ['Succeeded'], state: 'Healthy', message: 'Policy is ready' }],
    'Waiting for Policy to be ready',
  ),
  'monitoring.coreos.com/Prometheus': PROMETHEUS,
  'onepassword.com/OnePasswordItem': byCondition('Ready', 'Waiting for controller to report status'),
  'operator.victoriametrics.com/VMAgent': byPhase(VICTORIA),
  'operator.victoriametrics.com/VMCluster': byPhase(VICTORIA),
  'operator.victoriametrics.com/VMSingle': byPhase(VICTORIA),
  'postgresql.cnpg.io/Cluster': POSTGRES,
  'rabbitmq.com/RabbitmqCluster': RABBITMQ,
  'serving.knative.dev/Service': KNATIVE_SERVICE,
  'snapshot.storage.k8s.io/VolumeSnapshot': VOLUME_SNAPSHOT,
  'source.toolkit.fluxcd.io/Bucket': byFlux(2, ['ArtifactInStorage']),
  'source.toolkit.fluxcd.io/GitRepository': byFlux(2, ['ArtifactInStorage']),
  'source.toolkit.fluxcd.io/HelmChart': byFlux(2, ['ArtifactInStorage']),
  'source.toolkit.fluxcd.io/HelmRepository': (parts) =>
    parts.spec['type'] === 'oci'
      ? { status: 'Healthy', message: 'A Helm repository of type oci has no status.' }
      : byFlux(2, ['ArtifactInStorage'])(parts),
  'source.toolkit.fluxcd.io/OCIRepository': byFlux(2, ['ArtifactInStorage']),
}
