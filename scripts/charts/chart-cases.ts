// Values that the charts are rendered with in tests: each setting has another value than its default in one of them.
import type { ChartName } from './chart-files.ts'

type Sets = Readonly<Record<string, readonly string[]>>

const HUB = ['image.registry=registry.example.com/platform', 'gateway.url=https://hub.example.com:7444']
const S3 = [
  'blobs.s3.url=s3://flotilla/hub',
  'blobs.s3.endpoint=https://s3.example.com',
  'blobs.s3.credentialsSecret=flotilla-s3',
]
const IDENTITY = ['oidc.issuer=https://id.example.com', 'oidc.clientId=flotilla']

/** A hub in three sets of pods. */
const SPLIT = ['gateways.replicas=4', 'renderers.replicas=2']

export const HUB_SETS: Sets = {
  least: [...HUB, ...S3],
  split: [
    ...HUB,
    ...S3,
    ...SPLIT,
    'console.enabled=true',
    'console.url=https://console.example.com',
    'console.tlsSecret=tls',
    ...IDENTITY,
    'webhooks.enabled=true',
  ],
  balanced: [
    ...HUB,
    ...S3,
    'gateway.service.loadBalancerClass=example.com/metal',
    'gateway.service.externalTrafficPolicy=Local',
    'gateway.service.nodePort=30445',
  ],
  internal: [
    ...HUB,
    ...S3,
    'gateway.service.type=ClusterIP',
    'gateway.service.loadBalancerClass=example.com/metal',
    'gateway.service.externalTrafficPolicy=Local',
    'gateway.service.nodePort=30445',
  ],
  single: [...HUB, 'replicas=1', 'persistence.enabled=true', 'persistence.storageClass=fast', 'push.enabled=false'],
  most: [
    ...HUB,
    ...S3,
    ...IDENTITY,
    'replicas=5',
    'image.pullSecrets={registry}',
    'image.pullPolicy=Always',
    `image.digest=sha256:${'a'.repeat(64)}`,
    'keysSecret=own-keys',
    'gateway.drainSeconds=40',
    'gateway.service.type=NodePort',
    'gateway.service.port=443',
    'gateway.service.nodePort=30444',
    'gateway.service.annotations.example\\.com/pool=edge',
    'gateway.service.loadBalancerClass=metal',
    'gateway.service.externalTrafficPolicy=Local',
    'gateway.tlsRoute.enabled=true',
    'gateway.tlsRoute.parentRefs[0].name=edge',
    'gateway.ingress.enabled=true',
    'gateway.ingress.className=nginx',
    'blobs.s3.region=eu-north-1',
    'blobs.s3.addressing=path',
    'blobs.s3.caConfigMap=s3-ca',
    'blobs.s3.tokenService=https://sts.example.com',
    'console.enabled=true',
    'console.url=https://console.example.com',
    'console.tlsSecret=console-tls',
    'oidc.clientSecret=oidc',
    'oidc.usernameClaim=email',
    'oidc.groupsClaim=teams',
    'oidc.caConfigMap=oidc-ca',
    'webhooks.enabled=true',
    'dialects={fleet,ocm}',
    'sourceHosts={git.example.com,*.example.org}',
    'gateHosts={gate.example.com}',
    'push.hosts={api.example.com}',
    'evidenceRetention=400d',
    'logLevel=debug',
    'proxy.url=http://proxy.example.com:3128',
    'proxy.exclude=git.example.com',
    'serviceAccount.annotations.example\\.com/role=hub',
    'serviceMonitor.enabled=true',
    'serviceMonitor.labels.release=prometheus',
    'networkPolicy.gatewayFrom[0].ipBlock.cidr=10.0.0.0/8',
    'networkPolicy.egressPorts={443,6443,22}',
    'podAnnotations.a=b',
    'podLabels.c=d',
    'nodeSelector.disk=ssd',
    'tolerations[0].key=hub',
    'tolerations[0].operator=Exists',
    'affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey=kubernetes.io/hostname',
    'priorityClassName=system-cluster-critical',
  ],
}

const AGENT = ['image.registry=registry.example.com/platform']

export const AGENT_SETS: Sets = {
  least: [...AGENT, 'join.code=the-code'],
  existing: [...AGENT, 'join.existingSecret=flotilla-join'],
  claim: [...AGENT, 'join.code=the-code', 'persistence.enabled=true', 'persistence.storageClass=fast'],
  most: [
    ...AGENT,
    'join.existingSecret=own-join',
    'image.pullSecrets={registry}',
    'image.tag=0.1.0-rc.1',
    'clusterName=store-042',
    'profile=namespaced',
    'namespaces={shop,web}',
    'ceiling.maxPrune=5',
    'ceiling.denyKinds[0].kind=Secret',
    'proxy.url=http://proxy.example.com:3128',
    'proxy.exclude=10.0.0.0/8',
    'logLevel=debug',
    'serviceAccount.annotations.a=b',
    'networkPolicy.egressPorts={443,7444}',
    'podAnnotations.a=b',
    'podLabels.c=d',
    'nodeSelector.disk=ssd',
    'tolerations[0].key=edge',
    'tolerations[0].operator=Exists',
    'affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey=kubernetes.io/hostname',
    'priorityClassName=system-cluster-critical',
  ],
}

/** Values that a chart refuses. */
export const CONTRADICTIONS: readonly {
  readonly chart: ChartName
  readonly set: readonly string[]
  readonly message: RegExp
}[] = [
  { chart: 'flotilla-hub', set: HUB.slice(0, 1), message: /gateway\.url is missing/ },
  { chart: 'flotilla-hub', set: [...HUB.slice(1), ...S3], message: /image\.registry is missing/ },
  { chart: 'flotilla-hub', set: HUB, message: /several replicas need one place for blobs/ },
  { chart: 'flotilla-hub', set: [...HUB, 'gateways.replicas=1'], message: /gateways and renderers of their own need/ },
  { chart: 'flotilla-hub', set: [...HUB, 'replicas=1'], message: /set persistence\.enabled to true/ },
  { chart: 'flotilla-hub', set: [...HUB, ...S3, 'gateway.drainSeconds=41'], message: /must be at least 61/ },
  { chart: 'flotilla-hub', set: [...HUB, ...S3, 'console.enabled=true'], message: /console that other machines reach/ },
  {
    chart: 'flotilla-hub',
    set: [...HUB, ...S3, ...IDENTITY, 'console.enabled=true', 'console.tlsSecret=tls'],
    message: /needs console\.url/,
  },
  { chart: 'flotilla-hub', set: [...HUB, ...S3, 'gateway.tlsRoute.enabled=true'], message: /mode Passthrough/ },
  { chart: 'flotilla-agent', set: ['join.code=x'], message: /image\.registry is missing/ },
  { chart: 'flotilla-agent', set: AGENT, message: /the join code is missing/ },
  { chart: 'flotilla-agent', set: [...AGENT, 'join.code=x', 'join.existingSecret=y'], message: /exclude each other/ },
  { chart: 'flotilla-agent', set: [...AGENT, 'join.code=x', 'profile=namespaced'], message: /needs namespaces/ },
  {
    chart: 'flotilla-agent',
    set: [...AGENT, 'join.code=x', 'namespaces={shop}'],
    message: /no effect with profile full/,
  },
  {
    chart: 'flotilla-agent',
    set: [...AGENT, 'join.code=x', 'profile=namespaced', 'namespaces={flotilla-agent}'],
    message: /must not contain flotilla-agent/,
  },
]
