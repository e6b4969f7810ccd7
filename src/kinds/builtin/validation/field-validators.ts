/**
 * What the value of a field must be like, where Kubernetes' own validation says more than the schema. Each is proven
 * by what a kube-apiserver answered (`testing/fixtures/builtin-spoiled.json`).
 */
import {
  dataKeyProblems,
  labelKeyProblems,
  portNameProblems,
  subdomainProblems,
} from '../../../core/text/name-validation.ts'
import {
  IP_ADDRESS,
  COUNT_OR_PERCENT,
  between,
  each,
  LABEL,
  LABELS,
  OPTIONAL_PORT,
  MODE,
  NOT_NEGATIVE,
  number,
  COUNT_OR_PERCENT_TO_100,
  relativePath,
  absolutePath,
  PORT,
  PORT_OR_NAME,
  PROTOCOL,
  QUALIFIED,
  nonEmptyText,
  parentDirectoryProblems,
  SUBDOMAIN,
  text,
  USER_OR_GROUP_ID,
  ENV_VAR_NAME,
  oneOfValues,
} from './value-validators.ts'
import type { ValueValidator } from './value-validators.ts'

const CONTAINER = {
  name: LABEL,
  image: nonEmptyText((value) => (value.trim() === value ? [] : ['must not have leading or trailing whitespace'])),
  imagePullPolicy: oneOfValues('Always', 'IfNotPresent', 'Never'),
  terminationMessagePolicy: oneOfValues('File', 'FallbackToLogsOnError'),
  restartPolicy: oneOfValues('Always', 'Never', 'OnFailure'),
} as const

const KEY_OF_OBJECT = { name: SUBDOMAIN, key: nonEmptyText(dataKeyProblems) } as const
const RUNS_AS = { runAsUser: USER_OR_GROUP_ID, runAsGroup: USER_OR_GROUP_ID } as const
const WEIGHT = { weight: number((value) => value >= 1 && value <= 100, 'must be in the range 1-100') } as const
const PROJECTED_FILES = { defaultMode: MODE } as const

const REPLICAS = { replicas: NOT_NEGATIVE, minReadySeconds: NOT_NEGATIVE } as const
const ACCESS_MODE = oneOfValues('ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod')

/** Problems of a schedule, as far as they are seen without reading its fields. */
function scheduleProblems(schedule: string): string[] {
  if (/^(CRON_)?TZ=/.test(schedule)) return ['cannot use TZ or CRON_TZ in schedule, use timeZone field instead']
  const fields = schedule.trim().split(/\s+/)
  if (schedule.startsWith('@') || fields.length === 5) return []
  return [`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`]
}

/** A host of requests; with a star for all below it. */
const HOST = nonEmptyText((value) => {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(value)) return ['must be a DNS name, not an IP address']
  return subdomainProblems(value.replace(/^\*\./, ''))
})

/** By type and field. */
export const FIELD_VALIDATORS: Readonly<Record<string, Readonly<Record<string, ValueValidator>>>> = {
  'core.v1.PodSpec': {
    restartPolicy: oneOfValues('Always', 'OnFailure', 'Never'),
    dnsPolicy: oneOfValues('ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'),
    activeDeadlineSeconds: between(1, 2 ** 31 - 1),
    nodeSelector: LABELS,
    nodeName: SUBDOMAIN,
    hostname: LABEL,
    subdomain: LABEL,
    serviceAccountName: SUBDOMAIN,
  },
  'core.v1.HostAlias': { ip: IP_ADDRESS, hostnames: each(SUBDOMAIN) },
  'core.v1.Container': CONTAINER,
  'core.v1.EphemeralContainer': CONTAINER,
  'core.v1.ContainerPort': {
    name: nonEmptyText(portNameProblems),
    containerPort: OPTIONAL_PORT,
    hostPort: OPTIONAL_PORT,
    protocol: PROTOCOL,
  },
  'core.v1.EnvVar': { name: ENV_VAR_NAME },
  'core.v1.EnvFromSource': { prefix: ENV_VAR_NAME },
  'core.v1.ConfigMapEnvSource': { name: SUBDOMAIN },
  'core.v1.SecretEnvSource': { name: SUBDOMAIN },
  'core.v1.ConfigMapKeySelector': KEY_OF_OBJECT,
  'core.v1.SecretKeySelector': KEY_OF_OBJECT,
  'core.v1.Probe': {
    initialDelaySeconds: NOT_NEGATIVE,
    timeoutSeconds: NOT_NEGATIVE,
    periodSeconds: NOT_NEGATIVE,
    successThreshold: NOT_NEGATIVE,
    failureThreshold: NOT_NEGATIVE,
    terminationGracePeriodSeconds: number((value) => value > 0, 'must be greater than 0'),
  },
  'core.v1.HTTPGetAction': { port: PORT_OR_NAME, scheme: oneOfValues('HTTP', 'HTTPS') },
  'core.v1.TCPSocketAction': { port: PORT_OR_NAME },
  'core.v1.GRPCAction': { port: PORT },
  'core.v1.SecurityContext': { ...RUNS_AS, procMount: oneOfValues('Default', 'Unmasked') },
  'core.v1.PodSecurityContext': {
    ...RUNS_AS,
    fsGroup: USER_OR_GROUP_ID,
    fsGroupChangePolicy: oneOfValues('Always', 'OnRootMismatch'),
  },
  'core.v1.SeccompProfile': { type: oneOfValues('Localhost', 'RuntimeDefault', 'Unconfined') },
  'core.v1.Toleration': { key: QUALIFIED, effect: oneOfValues('NoSchedule', 'PreferNoSchedule', 'NoExecute') },
  'core.v1.TopologySpreadConstraint': {
    maxSkew: number((value) => value > 0, 'must be greater than zero'),
    whenUnsatisfiable: oneOfValues('DoNotSchedule', 'ScheduleAnyway'),
  },
  'core.v1.PodAffinityTerm': { topologyKey: text(labelKeyProblems) },
  'core.v1.WeightedPodAffinityTerm': WEIGHT,
  'core.v1.PreferredSchedulingTerm': WEIGHT,
  'core.v1.PodReadinessGate': { conditionType: QUALIFIED },
  'core.v1.Volume': { name: LABEL },
  'core.v1.ConfigMapVolumeSource': PROJECTED_FILES,
  'core.v1.SecretVolumeSource': PROJECTED_FILES,
  'core.v1.KeyToPath': { path: relativePath, mode: MODE },
  'core.v1.HostPathVolumeSource': {
    path: nonEmptyText(parentDirectoryProblems),
    type: oneOfValues(
      '',
      'BlockDevice',
      'CharDevice',
      'Directory',
      'DirectoryOrCreate',
      'File',
      'FileOrCreate',
      'Socket',
    ),
  },
  'core.v1.NFSVolumeSource': {
    path: absolutePath,
  },
  'core.v1.ReplicationControllerSpec': REPLICAS,
  'apps.v1.ReplicaSetSpec': REPLICAS,
  'apps.v1.DeploymentSpec': { ...REPLICAS, revisionHistoryLimit: NOT_NEGATIVE, progressDeadlineSeconds: NOT_NEGATIVE },
  'apps.v1.RollingUpdateDeployment': { maxUnavailable: COUNT_OR_PERCENT_TO_100, maxSurge: COUNT_OR_PERCENT },
  'apps.v1.DaemonSetSpec': { minReadySeconds: NOT_NEGATIVE, revisionHistoryLimit: NOT_NEGATIVE },
  'apps.v1.RollingUpdateDaemonSet': { maxUnavailable: COUNT_OR_PERCENT_TO_100, maxSurge: COUNT_OR_PERCENT_TO_100 },
  'apps.v1.StatefulSetSpec': {
    ...REPLICAS,
    podManagementPolicy: nonEmptyText((value) =>
      ['OrderedReady', 'Parallel'].includes(value) ? [] : ["must be 'OrderedReady' or 'Parallel'"],
    ),
  },
  'apps.v1.RollingUpdateStatefulSetStrategy': { partition: NOT_NEGATIVE },
  'batch.v1.JobSpec': {
    parallelism: NOT_NEGATIVE,
    completions: NOT_NEGATIVE,
    backoffLimit: NOT_NEGATIVE,
    activeDeadlineSeconds: NOT_NEGATIVE,
    ttlSecondsAfterFinished: NOT_NEGATIVE,
    completionMode: oneOfValues('NonIndexed', 'Indexed'),
    podReplacementPolicy: oneOfValues('Failed', 'TerminatingOrFailed'),
  },
  'batch.v1.CronJobSpec': {
    schedule: nonEmptyText(scheduleProblems),
    concurrencyPolicy: oneOfValues('Allow', 'Forbid', 'Replace'),
    startingDeadlineSeconds: NOT_NEGATIVE,
    successfulJobsHistoryLimit: NOT_NEGATIVE,
    failedJobsHistoryLimit: NOT_NEGATIVE,
  },
  'core.v1.ServiceSpec': {
    type: oneOfValues('ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'),
    sessionAffinity: oneOfValues('ClientIP', 'None'),
    selector: LABELS,
    externalIPs: each(IP_ADDRESS),
    externalName: SUBDOMAIN,
    externalTrafficPolicy: oneOfValues('Cluster', 'Local'),
    internalTrafficPolicy: oneOfValues('Cluster', 'Local'),
  },
  'core.v1.ServicePort': { name: LABEL, port: PORT, protocol: PROTOCOL, targetPort: PORT_OR_NAME },
  'core.v1.PersistentVolumeClaimSpec': {
    // A kube-apiserver names no item here.
    accessModes: (value, field) => (Array.isArray(value) ? value : []).flatMap((mode) => ACCESS_MODE(mode, field)),
    volumeMode: oneOfValues('Block', 'Filesystem'),
    storageClassName: SUBDOMAIN,
  },
  'networking.v1.IngressSpec': { ingressClassName: SUBDOMAIN },
  'networking.v1.IngressRule': { host: HOST },
  'networking.v1.IngressTLS': { hosts: each(HOST) },
  'networking.v1.HTTPIngressPath': { pathType: oneOfValues('Exact', 'ImplementationSpecific', 'Prefix') },
  'networking.v1.IngressServiceBackend': { name: LABEL },
  'networking.v1.ServiceBackendPort': { number: OPTIONAL_PORT },
  'networking.v1.NetworkPolicySpec': { policyTypes: each(oneOfValues('Ingress', 'Egress')) },
  'networking.v1.NetworkPolicyPort': { port: PORT_OR_NAME, protocol: PROTOCOL },
  'policy.v1.PodDisruptionBudgetSpec': {
    minAvailable: COUNT_OR_PERCENT_TO_100,
    maxUnavailable: COUNT_OR_PERCENT_TO_100,
  },
}
