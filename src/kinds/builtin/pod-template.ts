/** What workloads make pods from. Containers are typed with their merge keys; rarer parts are kept as they are. */
import { Type } from 'typebox'
import { METADATA_SCHEMA } from '../metadata.ts'
import {
  ANY,
  atomic,
  BOOL,
  fields,
  INT32,
  INT64,
  intOr,
  keyed,
  mapOf,
  open,
  opt,
  QUANTITY,
  TEXT,
  textOr,
} from './vocabulary.ts'

const ATOMIC = { 'x-kubernetes-map-type': 'atomic' }

const KeySelector = fields({ key: TEXT, name: opt(TEXT), optional: opt(BOOL) }, ATOMIC)

const EnvVar = fields({
  name: TEXT,
  value: opt(TEXT),
  valueFrom: opt(
    fields({
      fieldRef: opt(fields({ apiVersion: textOr('v1'), fieldPath: TEXT }, ATOMIC)),
      resourceFieldRef: opt(fields({ containerName: opt(TEXT), resource: TEXT, divisor: opt(QUANTITY) }, ATOMIC)),
      configMapKeyRef: opt(KeySelector),
      secretKeyRef: opt(KeySelector),
      fileKeyRef: opt(ANY),
    }),
  ),
})

const EnvFrom = fields({
  prefix: opt(TEXT),
  configMapRef: opt(fields({ name: opt(TEXT), optional: opt(BOOL) })),
  secretRef: opt(fields({ name: opt(TEXT), optional: opt(BOOL) })),
})

const Resources = fields({
  limits: opt(mapOf(QUANTITY)),
  requests: opt(mapOf(QUANTITY)),
  claims: opt(keyed(['name'], fields({ name: TEXT, request: opt(TEXT) }))),
})

const Container = fields({
  name: TEXT,
  image: opt(TEXT),
  command: opt(atomic(TEXT)),
  args: opt(atomic(TEXT)),
  workingDir: opt(TEXT),
  ports: opt(
    keyed(
      ['containerPort', 'protocol'],
      fields({
        containerPort: INT32,
        protocol: textOr('TCP'),
        name: opt(TEXT),
        hostPort: opt(INT32),
        hostIP: opt(TEXT),
      }),
    ),
  ),
  env: opt(keyed(['name'], EnvVar)),
  envFrom: opt(atomic(EnvFrom)),
  resources: Type.Unsafe<Type.Static<typeof Resources>>({ ...Resources, default: {} }),
  resizePolicy: opt(atomic(ANY)),
  restartPolicy: opt(TEXT),
  volumeMounts: opt(
    keyed(
      ['mountPath'],
      fields({
        name: TEXT,
        mountPath: TEXT,
        readOnly: opt(BOOL),
        recursiveReadOnly: opt(TEXT),
        subPath: opt(TEXT),
        subPathExpr: opt(TEXT),
        mountPropagation: opt(TEXT),
      }),
    ),
  ),
  volumeDevices: opt(keyed(['devicePath'], fields({ name: TEXT, devicePath: TEXT }))),
  livenessProbe: opt(ANY),
  readinessProbe: opt(ANY),
  startupProbe: opt(ANY),
  lifecycle: opt(ANY),
  securityContext: opt(ANY),
  imagePullPolicy: opt(TEXT),
  terminationMessagePath: textOr('/dev/termination-log'),
  terminationMessagePolicy: textOr('File'),
  stdin: opt(BOOL),
  stdinOnce: opt(BOOL),
  tty: opt(BOOL),
})

const PodSpec = open({
  containers: keyed(['name'], Container),
  initContainers: opt(keyed(['name'], Container)),
  volumes: opt(keyed(['name'], open({ name: TEXT }))),
  imagePullSecrets: opt(keyed(['name'], fields({ name: TEXT }, ATOMIC))),
  nodeSelector: opt(mapOf(TEXT, ATOMIC)),
  nodeName: opt(TEXT),
  serviceAccountName: opt(TEXT),
  serviceAccount: opt(TEXT),
  hostNetwork: opt(BOOL),
  hostPID: opt(BOOL),
  hostIPC: opt(BOOL),
  hostname: opt(TEXT),
  subdomain: opt(TEXT),
  affinity: opt(ANY),
  tolerations: opt(
    atomic(
      fields({
        key: opt(TEXT),
        operator: opt(TEXT),
        value: opt(TEXT),
        effect: opt(TEXT),
        tolerationSeconds: opt(INT64),
      }),
    ),
  ),
  topologySpreadConstraints: opt(
    keyed(['topologyKey', 'whenUnsatisfiable'], open({ topologyKey: TEXT, whenUnsatisfiable: TEXT })),
  ),
  hostAliases: opt(keyed(['ip'], fields({ ip: TEXT, hostnames: opt(atomic(TEXT)) }))),
  priorityClassName: opt(TEXT),
  activeDeadlineSeconds: opt(INT64),
  automountServiceAccountToken: opt(BOOL),
  shareProcessNamespace: opt(BOOL),
  restartPolicy: textOr('Always'),
  dnsPolicy: textOr('ClusterFirst'),
  schedulerName: textOr('default-scheduler'),
  terminationGracePeriodSeconds: intOr(30, 'int64'),
  securityContext: Type.Unsafe<{ [field: string]: unknown }>({ ...ANY, default: {} }),
})

interface TemplateMeta {
  name?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

/** The template of a workload's pods. */
export const PodTemplate = fields({ metadata: opt(Type.Unsafe<TemplateMeta>(METADATA_SCHEMA)), spec: opt(PodSpec) })
