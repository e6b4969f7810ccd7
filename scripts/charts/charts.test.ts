/**
 * The charts as our own engine renders them: their rights are those of the code, their settings are accepted by hub and
 * agent, and the agent's chart and the join manifest make the same objects.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { readAgentConfig } from '../../src/agent/config.ts'
import { readLocalLimits } from '../../src/agent/cluster/local-limits-file.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { VERSION } from '../../src/core/version.ts'
import { readKubeconfig } from '../../src/client/kubeconfig.ts'
import { HubConfig, hubRoles, readHubConfig } from '../../src/hub/config.ts'
import { servedDialects } from '../../src/hub/home/dialect-names.ts'
import { kubeHomeDialectRules, kubeHomeRules, kubeHomeSystemRules } from '../../src/hub/home/kube-home-rules.ts'
import { joinManifest } from '../../src/hub/join/agent-manifest.ts'
import { agentRbac } from '../../src/hub/join/agent-rbac.ts'
import { consoleConfigProblem } from '../../src/hub/start/oidc-config.ts'
import type { PolicyRule } from '../../src/kinds/builtin/rbac.ts'
import { profileOf } from '../../src/render/helm/profile.ts'
import { loadChartArchive } from '../../src/render/helm/chart/load-chart.ts'
import { grantedRights } from '../../src/testing/hub/used-rights.ts'
import { readYaml } from '../../src/yaml/read/read-yaml.ts'
import { chartFolder, CHARTS, CHART_NAMESPACES, packageChart, plainManifest, renderOwnChart } from './chart-files.ts'
import type { ChartName } from './chart-files.ts'
import { AGENT_SETS, CONTRADICTIONS, HUB_SETS } from './chart-cases.ts'
import { chartSettings, generatedChartFiles } from './generated-parts.ts'

interface Rendered extends JsonObject {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; labels?: Record<string, string> }
  readonly rules?: PolicyRule[]
}

const objectsOf = (text: string): Rendered[] =>
  readYaml(text).flatMap(({ value }) => (value === null ? [] : [value as Rendered]))

const render = (name: ChartName, set: readonly string[]): Rendered[] => objectsOf(renderOwnChart(name, { set }))

/** A list that may be empty, which `--set name={}` is not. */
const listOf = (name: string, values: readonly string[]): string[] =>
  values.length === 0 ? [] : [`${name}={${values.join(',')}}`]

function only(objects: readonly Rendered[], kind: string, name?: string): Rendered {
  const found = objects.filter((one) => one.kind === kind && (name === undefined || one.metadata.name === name))
  assert.equal(found.length, 1, `${kind} ${name ?? ''}`)
  return found[0]!
}

/** An object without the labels that only Helm sets. */
function withoutLabels(object: Rendered): object {
  const metadata = { ...object.metadata }
  delete metadata.labels
  return { ...object, metadata }
}

const sorted = (objects: readonly object[]): string[] => objects.map((one) => JSON.stringify(ordered(one))).sort()

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, below]) => [key, ordered(below)]),
  )
}

describe('every chart', () => {
  test('has generated parts as the code wants them; run "npm run docs" to renew them', () => {
    for (const { path, text } of generatedChartFiles()) assert.equal(readFileSync(path, 'utf8'), text, path)
  })

  test('describes every setting, and has the version of the project', () => {
    for (const name of CHARTS) {
      const settings = chartSettings(name)
      assert.ok(settings.length > 20)
      for (const { name: setting, description } of settings) assert.match(description ?? '', /\.$/, setting)
      const about = readFileSync(join(chartFolder(name), 'Chart.yaml'), 'utf8')
      assert.match(about, new RegExp(`^version: ${VERSION}\nappVersion: ${VERSION}$`, 'm'))
    }
  })

  test('refuses a value that it does not know', () => {
    for (const [name, set] of [
      ['flotilla-hub', HUB_SETS.least],
      ['flotilla-agent', AGENT_SETS.least],
    ] as const) {
      assert.throws(() => render(name, [...set!, 'replica=2']), /additional properties 'replica' not allowed/i)
    }
  })

  test('refuses values that contradict each other, with what to do', () => {
    for (const { chart, set, message } of CONTRADICTIONS) assert.throws(() => render(chart, set), message)
    for (const name of CHARTS)
      assert.throws(
        () =>
          renderOwnChart(name, { set: (name === 'flotilla-hub' ? HUB_SETS : AGENT_SETS).least! }, { namespace: 'x' }),
        new RegExp(`--namespace ${CHART_NAMESPACES[name]} --create-namespace`),
      )
  })

  test('runs pods that the restricted Pod Security Standard admits', () => {
    for (const [name, sets] of [
      ['flotilla-hub', HUB_SETS],
      ['flotilla-agent', AGENT_SETS],
    ] as const) {
      for (const set of Object.values(sets)) {
        const workloads = render(name, set).filter(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment')
        assert.ok(workloads.length > 0)
        for (const workload of workloads) {
          const { spec } = (workload as unknown as { spec: { template: { spec: PodSpec } } }).spec.template
          assert.equal(spec.securityContext.runAsNonRoot, true)
          assert.equal(spec.securityContext.seccompProfile.type, 'RuntimeDefault')
          for (const { securityContext } of spec.containers) {
            assert.deepEqual(securityContext, {
              allowPrivilegeEscalation: false,
              capabilities: { drop: ['ALL'] },
              readOnlyRootFilesystem: true,
            })
          }
          for (const volume of spec.volumes) assert.equal('hostPath' in volume, false)
        }
      }
    }
  })

  test('packages to the same bytes, which load as the same chart', () => {
    for (const name of CHARTS) {
      const { file, bytes } = packageChart(name)
      assert.equal(file, `${name}-${VERSION}.tgz`)
      assert.deepEqual(packageChart(name).bytes, bytes)
      const chart = loadChartArchive(bytes, { profile: profileOf('helm4') })
      assert.equal(chart.metadata.name, name)
    }
  })

  test('is a plain manifest without traces of Helm', () => {
    for (const name of CHARTS) {
      const text = plainManifest(name)
      assert.doesNotMatch(text, /helm\.sh|managed-by|# Source/)
      const objects = objectsOf(text)
      assert.equal(objects[0]!.kind, 'Namespace')
      assert.equal(objects[0]!.metadata.name, CHART_NAMESPACES[name])
      const rendered = render(name, name === 'flotilla-hub' ? HUB_SETS.least! : AGENT_SETS.existing!)
      assert.deepEqual(
        objects.slice(1).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
        rendered.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      )
    }
  })
})

interface PodSpec {
  readonly securityContext: { readonly runAsNonRoot: boolean; readonly seccompProfile: { readonly type: string } }
  readonly containers: readonly { readonly args: readonly string[]; readonly securityContext: object }[]
  readonly volumes: readonly object[]
}

describe('the chart of the hub', () => {
  test('has the rights that the code needs and no more, for each dialect', () => {
    for (const dialects of [[], ['fleet'], ['all']] as const) {
      const objects = render('flotilla-hub', [...HUB_SETS.least!, ...listOf('dialects', dialects)])
      const enabled = dialects[0] === 'all' ? servedDialects({ dialects: 'all', kubeconfig: 'x' }) : dialects
      const wanted = [
        { kind: 'ClusterRole', name: 'flotilla-hub', rules: kubeHomeRules() },
        { kind: 'Role', name: 'flotilla-hub', namespace: 'flotilla-system', rules: kubeHomeSystemRules() },
        ...enabled.map((dialect) => {
          return { kind: 'ClusterRole', name: `flotilla-hub-${dialect}`, rules: kubeHomeDialectRules(dialect) }
        }),
      ]
      const roles = objects.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
      assert.equal(roles.length, wanted.length)
      for (const { kind, name, rules, ...place } of wanted) {
        const own = only(objects, kind, name)
        assert.equal(own.metadata.namespace, 'namespace' in place ? place.namespace : undefined)
        assert.deepEqual([...grantedRights(own.rules!)].sort(), [...grantedRights(rules)].sort(), name)
        const names = (from: readonly PolicyRule[]) => from.flatMap(({ resourceNames = [] }) => resourceNames).sort()
        assert.deepEqual(names(own.rules!), names(rules))
        const { roleRef, subjects } = only(objects, `${kind}Binding`, name)
        assert.deepEqual(roleRef, { apiGroup: 'rbac.authorization.k8s.io', kind, name })
        assert.deepEqual(subjects, [{ kind: 'ServiceAccount', name: 'flotilla-hub', namespace: 'flotilla-system' }])
      }
    }
    const without = render('flotilla-hub', [...HUB_SETS.least!, 'rbac.create=false'])
    assert.deepEqual(
      without.filter(({ kind }) => /Role/.test(kind)),
      [],
    )
  })

  test('has settings that the hub accepts, and a kubeconfig of its account', async () => {
    const seen = new Set<string>()
    for (const set of Object.values(HUB_SETS)) {
      const { data } = only(render('flotilla-hub', set), 'ConfigMap') as unknown as { data: Record<string, string> }
      const { config, origins } = readHubConfig({
        flags: {},
        env: { FLOTILLA_HUB_NAME: 'flotilla-hub-0' },
        file: { path: 'hub.yaml', text: data['hub.yaml']! },
      })
      assert.equal(config.name, 'flotilla-hub-0')
      assert.equal(consoleConfigProblem(config), undefined)
      assert.equal(config.agentImage, 'registry.example.com/platform/flotilla-agent:0.1.0')
      for (const [name, { from }] of Object.entries(origins)) if (from === 'hub.yaml') seen.add(name)
      const read: string[] = []
      const readFile = async (path: string) => `${read.push(path)}`
      const { connection } = await readKubeconfig({
        text: data['kubeconfig']!,
        file: '/etc/flotilla/kubeconfig',
        readFile,
      })
      assert.equal(connection.server, 'https://kubernetes.default.svc')
      assert.deepEqual(
        read.sort(),
        ['ca.crt', 'token'].map((file) => `/var/run/secrets/kubernetes.io/serviceaccount/${file}`),
      )
    }
    // Name and roles come from the pod. The others are for hubs outside a cluster: a cluster with pods has controllers.
    const unused = Object.keys(HubConfig.properties).filter((name) => !seen.has(name))
    assert.deepEqual(unused.sort(), ['context', 'hubTemplates', 'name', 'roles', 'sourcePaths'])
  })

  test('mounts each file that its settings name', () => {
    for (const set of Object.values(HUB_SETS)) {
      const objects = render('flotilla-hub', set)
      const { data } = only(objects, 'ConfigMap') as unknown as { data: Record<string, string> }
      for (const { spec } of statefulSets(objects)) {
        const { containers, volumes } = spec.template.spec
        const { args, volumeMounts } = containers[0]!
        assert.deepEqual(args, ['hub', 'run', '--config', '/etc/flotilla/hub.yaml'])
        const mounted = volumeMounts.map(({ mountPath }) => mountPath)
        const named = [...data['hub.yaml']!.matchAll(/: (\/\S+)$/gm)].map(([, path]) => path!)
        for (const path of named)
          assert.ok(
            mounted.some((at) => path === at || path.startsWith(`${at}/`)),
            path,
          )
        const claims = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata)
        const known = [...volumes, ...claims].map(({ name }) => name)
        assert.deepEqual(volumeMounts.map(({ name }) => name).sort(), known.sort())
      }
    }
  })

  test('opens a port of each Service and each rule of the NetworkPolicy, and no other', () => {
    for (const set of Object.values(HUB_SETS)) {
      const objects = render('flotilla-hub', set)
      const sets = statefulSets(objects)
      const portsOf = ({ spec }: StatefulSet) => spec.template.spec.containers[0]!.ports.map(({ name }) => name)
      const all = [...new Set(sets.flatMap(portsOf))].sort()
      const services = objects.filter(({ kind }) => kind === 'Service') as unknown as readonly Service[]
      assert.deepEqual(
        [...new Set(services.flatMap(({ spec }) => spec.ports.map(({ targetPort }) => targetPort)))].sort(),
        all,
      )
      for (const { spec } of services) {
        const chosen = sets.filter((one) =>
          Object.entries(spec.selector).every(([label, value]) => one.spec.template.metadata.labels[label] === value),
        )
        assert.ok(chosen.length > 0)
        for (const { targetPort } of spec.ports)
          for (const one of chosen) assert.ok(portsOf(one).includes(targetPort), targetPort)
      }
      const policy = only(objects, 'NetworkPolicy') as unknown as {
        readonly spec: { readonly ingress: readonly { readonly ports: readonly { readonly port: string }[] }[] }
      }
      assert.deepEqual(policy.spec.ingress.flatMap((rule) => rule.ports.map(({ port }) => port)).sort(), all)
    }
  })

  test('divides the roles of a hub among the sets of pods, each role to one set', () => {
    for (const [title, set] of Object.entries(HUB_SETS)) {
      const objects = render('flotilla-hub', set)
      const { data } = only(objects, 'ConfigMap') as unknown as { data: Record<string, string> }
      const roles = statefulSets(objects).map(({ spec }) => {
        const { env, ports } = spec.template.spec.containers[0]!
        const value = env.find(({ name }) => name === 'FLOTILLA_HUB_ROLES')?.value
        const { config } = readHubConfig({
          flags: {},
          env: value === undefined ? {} : { FLOTILLA_HUB_ROLES: value },
          file: { path: 'hub.yaml', text: data['hub.yaml']! },
        })
        const own = hubRoles(config)
        for (const [role, port] of [
          ['gateway', 'gateway'],
          ['views', 'view'],
        ] as const)
          assert.equal(
            ports.some(({ name }) => name === port),
            own.includes(role),
          )
        return own
      })
      assert.equal(roles.length, title === 'split' ? 3 : 1)
      assert.deepEqual(roles.flat().sort(), ['console', 'controllers', 'gateway', 'renderers', 'views'])
    }
  })

  test('takes the settings of the pages about installation', () => {
    const pages = ['install-on-kubernetes.md', 'install-air-gapped.md'].map((name) =>
      readFileSync(join(import.meta.dirname, '../../docs/how-to', name), 'utf8'),
    )
    const blocks = pages.flatMap((page) => [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text]) => text!))
    assert.equal(blocks.length, 4)
    for (const text of blocks) {
      const data = Buffer.from(text)
      // A page shows only what differs: the registry and the address are in the block before.
      const set = text.includes('registry:') ? [] : HUB_SETS.least!
      assert.match(renderOwnChart('flotilla-hub', { files: [{ name: 'hub.yaml', data }], set }), /kind: StatefulSet/)
    }
  })

  test('protects several pods from evictions, and does not block the eviction of a single pod', () => {
    const budgets = (set: readonly string[]) => render('flotilla-hub', set).filter(({ kind }) => /Budget/.test(kind))
    assert.equal(budgets(HUB_SETS.least!).length, 1)
    assert.equal(budgets(HUB_SETS.split!).length, 3)
    assert.equal(budgets(HUB_SETS.single!).length, 0)
  })

  test('passes TLS through to the gateway, for the host that agents use', () => {
    const objects = render('flotilla-hub', HUB_SETS.most!)
    const route = only(objects, 'TLSRoute')['spec'] as { hostnames: string[]; rules: unknown }
    assert.deepEqual(route.hostnames, ['hub.example.com'])
    assert.deepEqual(route.rules, [{ backendRefs: [{ name: 'flotilla-hub-gateway', port: 443 }] }])
    const ingress = only(objects, 'Ingress')
    const { annotations } = ingress.metadata as unknown as { annotations: Record<string, string> }
    assert.equal(annotations['nginx.ingress.kubernetes.io/ssl-passthrough'], 'true')
  })
})

const statefulSets = (objects: readonly Rendered[]): StatefulSet[] =>
  objects.filter(({ kind }) => kind === 'StatefulSet') as unknown as StatefulSet[]

interface Service {
  readonly spec: {
    readonly selector: Readonly<Record<string, string>>
    readonly ports: readonly { readonly targetPort: string }[]
  }
}

interface StatefulSet {
  readonly spec: {
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[]
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: {
        readonly volumes: readonly { readonly name: string }[]
        readonly containers: readonly {
          readonly args: readonly string[]
          readonly env: readonly { readonly name: string; readonly value?: string }[]
          readonly ports: readonly { readonly name: string }[]
          readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
        }[]
      }
    }
  }
}

describe('the chart of the agent', () => {
  const isRights = ({ kind }: { readonly kind: string }) => /Role/.test(kind)

  test('has the rights of each profile', () => {
    for (const [profile, namespaces] of [
      ['full', []],
      ['namespaced', ['shop', 'web']],
      ['read-only', []],
    ] as const) {
      const objects = render('flotilla-agent', [
        ...AGENT_SETS.least!,
        `profile=${profile}`,
        ...listOf('namespaces', namespaces),
      ])
      const labels = { 'app.kubernetes.io/name': 'flotilla-agent' }
      const wanted = agentRbac({ profile, namespaces, home: 'flotilla-agent', account: 'flotilla-agent', labels })
      assert.deepEqual(
        sorted(objects.filter(isRights).map(withoutLabels)),
        sorted((wanted as Rendered[]).map(withoutLabels)),
      )
    }
  })

  test('makes the objects of the join manifest of a hub with an agent image', () => {
    const image = 'registry.example.com/platform/flotilla-agent:0.1.0'
    for (const [profile, namespaces] of [
      ['full', []],
      ['namespaced', ['shop']],
    ] as const) {
      const options = { code: 'the-code', endpoints: ['https://h:7444'], proxy: 'http://proxy:3128' }
      const manifest = objectsOf(joinManifest({ ...options, agent: { image }, profile, namespaces }))
      const chart = render('flotilla-agent', [
        'image.registry=registry.example.com/platform',
        'join.code=the-code',
        'proxy.url=http://proxy:3128',
        'persistence.enabled=true',
        'networkPolicy.enabled=false',
        `profile=${profile}`,
        ...listOf('namespaces', namespaces),
      ])
      const plain = (objects: readonly Rendered[]) =>
        sorted(
          objects.flatMap((one): object[] => {
            if (one.kind === 'Namespace') return []
            const copy = structuredClone(withoutLabels(one)) as unknown as Comparable
            if (copy.data?.['kubeconfig'] !== undefined) {
              const files = Object.entries(copy.data).map(([file, text]) => [file, readYaml(text)[0]?.value ?? {}])
              return [{ ...copy, data: Object.fromEntries(files) as object }]
            }
            const template = copy.spec?.template
            // What only a chart has: a checksum that starts a new pod, and the policy of pulling.
            if (template) delete template.metadata.annotations
            for (const container of template?.spec.containers ?? []) delete container.imagePullPolicy
            return [copy]
          }),
        )
      assert.deepEqual(plain(chart), plain(manifest))
    }
  })

  test('starts an agent with arguments, limits and a kubeconfig that the agent reads', async () => {
    for (const set of Object.values(AGENT_SETS)) {
      const objects = render('flotilla-agent', set)
      const { data } = only(objects, 'ConfigMap') as unknown as { data: Record<string, string> }
      const limits = readLocalLimits(data['ceiling.yaml']!, 'ceiling.yaml')
      assert.equal(limits.maxPrune, set.includes('ceiling.maxPrune=5') ? 5 : undefined)
      const workload = only(objects, 'Deployment') as unknown as { spec: { template: { spec: PodSpec } } }
      const read = readAgentConfig(workload.spec.template.spec.containers[0]!.args, { FLOTILLA_JOIN: 'code' })
      assert.equal(read.kubeconfig, '/etc/flotilla/kubeconfig')
      const hasClaim = objects.some(({ kind }) => kind === 'PersistentVolumeClaim')
      assert.equal(read.identitySecret, hasClaim ? undefined : 'flotilla-agent-identity')
      const { connection } = await readKubeconfig({ text: data['kubeconfig']!, file: '/k', readFile: async () => 'x' })
      assert.equal(connection.server, 'https://kubernetes.default.svc')
    }
  })

  test('keeps the join code out of the release when a Secret has it', () => {
    const secrets = render('flotilla-agent', AGENT_SETS.existing!).filter(({ kind }) => kind === 'Secret')
    assert.deepEqual(secrets, [])
  })
})

interface Comparable {
  readonly data?: Record<string, string>
  readonly spec?: {
    readonly template?: {
      readonly metadata: { annotations?: object }
      readonly spec: { readonly containers: { imagePullPolicy?: string }[] }
    }
  }
}
