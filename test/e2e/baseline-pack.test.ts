/** The pack of rules to begin with: each rule catches what it is for, and passes a good object. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { ENTROPY } from '../../src/cli/repository/bundle-recipe.ts'
import { dryRun } from '../../src/dialects/ocm/policy/dry-run.ts'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../src/kinds/builtin/admission.ts'
import type { UnknownObject } from '../../src/kinds/meta.ts'
import { contentRules, judgeContent } from '../../src/plan/policy/rules/content-rules.ts'
import { readYaml } from '../../src/yaml/read/read-yaml.ts'

const PACK = resolve(import.meta.dirname, '../../packs/baseline')
const FILES = readdirSync(PACK).filter((name) => name.endsWith('.yaml'))
const textOf = (name: string) => readFileSync(join(PACK, name), 'utf8')
const objectsOf = (name: string) => readYaml(textOf(name)).map(({ value }) => value) as unknown as UnknownObject[]
const GROUP = 'policy.open-cluster-management.io'

/** A Deployment, a Pod, a CronJob or a StatefulSet around the same Pod template. */
function around(kind: string, spec: object, metadata: object = {}): UnknownObject {
  const about = { name: 'till', namespace: 'shop', ...metadata }
  if (kind === 'Pod') return { apiVersion: 'v1', kind, metadata: about, spec }
  if (kind === 'CronJob') {
    return { apiVersion: 'batch/v1', kind, metadata: about, spec: { jobTemplate: { spec: { template: { spec } } } } }
  }
  return { apiVersion: 'apps/v1', kind, metadata: about, spec: { template: { spec } } }
}

const KINDS = ['Pod', 'Deployment', 'StatefulSet', 'CronJob']

/** What a rule says about an object that a cluster receives. */
function judge(file: string, object: UnknownObject, env = 'production'): string[] {
  const [policy, binding] = objectsOf(file)
  const rules = contentRules(
    [policy as unknown as ValidatingAdmissionPolicy],
    [binding as unknown as ValidatingAdmissionPolicyBinding],
  )
  assert.equal(rules.length, 1, file)
  const question = { origin: { bundle: 'shop/till', placement: 'stores' }, objects: [object], rules, exceptions: [] }
  const inputs = { name: 'store-1', labels: { env }, annotations: {}, claims: {}, values: {} }
  return judgeContent(question, inputs).findings.map(({ action, message }) => `${action} ${message}`)
}

const container = (more: object = {}) => ({ name: 'till', image: 'shop/till:1.2.3', ...more })
const isNonRoot = { runAsNonRoot: true }

describe('rules of the pack on rendered content', () => {
  it('non-root: in the pod or in each container, and never user 0', () => {
    const says = (spec: object) => [
      ...new Set(KINDS.flatMap((kind) => judge('rule-non-root.yaml', around(kind, spec)))),
    ]
    const bad = ['Warn set runAsNonRoot for the pod or each container, and no runAsUser 0']
    assert.deepEqual(says({ securityContext: isNonRoot, containers: [container()] }), [])
    assert.deepEqual(says({ containers: [container({ securityContext: isNonRoot })] }), [])
    assert.deepEqual(says({ containers: [container()] }), bad)
    assert.deepEqual(says({ securityContext: isNonRoot, containers: [container({ securityContext: { runAsUser: 0 } })] }), bad) // prettier-ignore
    assert.deepEqual(says({ securityContext: isNonRoot, containers: [container()], initContainers: [container({ securityContext: { runAsNonRoot: false } })] }), bad) // prettier-ignore
  })

  it('no latest: only on production clusters', () => {
    const says = (image: string, env?: string) => [...new Set(KINDS.flatMap((kind) => judge('rule-no-latest.yaml', around(kind, { containers: [container({ image })] }), env)))] // prettier-ignore
    const bad = ['Deny name a version or a digest of each image, and not latest']
    for (const image of ['shop/till', 'shop/till:latest', 'registry.local:5000/shop/till']) {
      assert.deepEqual(says(image), bad, image)
      assert.deepEqual(says(image, 'staging'), [], image)
    }
    for (const image of ['till:1', 'registry.local:5000/shop/till:v1.2', `shop/till@sha256:${'a'.repeat(64)}`])
      assert.deepEqual(says(image), [], image)
  })

  it('labels and owners', () => {
    const says = (metadata: object) => judge('rule-labels-and-owners.yaml', around('Deployment', { containers: [container()] }, metadata)) // prettier-ignore
    const name = { 'app.kubernetes.io/name': 'till' }
    assert.deepEqual(says({ labels: { ...name, owner: 'team-shop' } }), [])
    assert.deepEqual(says({ labels: name, annotations: { owner: 'ana@example.com' } }), [])
    assert.deepEqual(says({ labels: name }), ['Warn name a team or a person in the label or annotation owner'])
    assert.equal(says({}).length > 0, true)
    assert.deepEqual(says({ labels: { owner: 'team-shop' } }), ['Warn set the label app.kubernetes.io/name'])
  })

  it('limits', () => {
    const says = (resources: object) => judge('rule-limits.yaml', around('CronJob', { containers: [container({ resources })] })) // prettier-ignore
    const requests = { cpu: '10m', memory: '64Mi' }
    assert.deepEqual(says({ requests, limits: { memory: '64Mi' } }), [])
    assert.deepEqual(says({ requests }), ['Warn set a limit of memory for each container'])
    assert.deepEqual(says({ requests: { cpu: '1' }, limits: { memory: '1Gi' } }), ['Warn set requests of cpu and memory for each container']) // prettier-ignore
  })

  it('ingress TLS', () => {
    const says = (spec: object) => judge('rule-ingress-tls.yaml', { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'till', namespace: 'shop' }, spec }) // prettier-ignore
    const rules = [{ host: 'a.example.com' }, { host: 'b.example.com' }]
    assert.deepEqual(says({ rules, tls: [{ hosts: ['a.example.com', 'b.example.com'] }] }), [])
    assert.deepEqual(says({ rules, tls: [{ hosts: ['a.example.com'] }] }), ['Warn list each host of the rules in spec.tls']) // prettier-ignore
    assert.equal(says({ rules }).length > 0, true)
  })
})

const namespace = (name: string, labels?: object) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...(labels && { labels }) } }) // prettier-ignore

/** Whether a cluster with these objects complies. */
function complies(file: string, objects: readonly object[]): boolean {
  const inputs = objects.map((one, index) => ({ name: `file ${index}.yaml`, text: JSON.stringify(one) }))
  const { status } = dryRun({ policy: textOf(file), objects: inputs, entropy: ENTROPY })
  return status.compliant === 'Compliant'
}

describe('Policies of the pack', () => {
  it('quotas: in each namespace of users', () => {
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'any', namespace: 'shop' }, spec: { hard: { 'limits.memory': '1Gi' } } } // prettier-ignore
    assert.equal(complies('policy-quotas.yaml', [namespace('shop'), quota, namespace('kube-system')]), true)
    assert.equal(complies('policy-quotas.yaml', [namespace('shop'), quota, namespace('web')]), false)
  })

  it('Pod Security: baseline or restricted', () => {
    const level = (word: string) => ({ 'pod-security.kubernetes.io/enforce': word })
    const file = 'policy-pod-security.yaml'
    assert.equal(complies(file, [namespace('shop', level('restricted')), namespace('kube-system')]), true)
    assert.equal(complies(file, [namespace('shop', level('baseline'))]), true)
    assert.equal(complies(file, [namespace('shop', level('privileged'))]), false)
    assert.equal(complies(file, [namespace('shop')]), false)
  })

  it('default deny: the NetworkPolicy, and nothing that it lets through', () => {
    const policy = (spec: object) => ({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'default-deny', namespace: 'shop' }, spec }) // prettier-ignore
    const denies = { podSelector: {}, policyTypes: ['Ingress', 'Egress'] }
    const file = 'policy-default-deny.yaml'
    assert.equal(complies(file, [namespace('shop'), policy(denies)]), true)
    assert.equal(complies(file, [namespace('shop')]), false)
    assert.equal(complies(file, [namespace('shop'), policy({ ...denies, ingress: [{}] })]), false)
  })

  it('backup agent: there and available', () => {
    const velero = (status: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'velero', namespace: 'velero' }, status: { conditions: [{ type: 'Available', status }] } }) // prettier-ignore
    assert.equal(complies('policy-backup-agent.yaml', [namespace('velero'), velero('True')]), true)
    assert.equal(complies('policy-backup-agent.yaml', [namespace('velero'), velero('False')]), false)
    assert.equal(complies('policy-backup-agent.yaml', []), false)
  })
})

it('each rule and Policy names standard, category and control, and the set has each Policy', () => {
  const all = FILES.flatMap(objectsOf)
  const rules = all.filter(({ kind }) => kind === 'Policy' || kind === 'ValidatingAdmissionPolicy')
  assert.equal(rules.length, 9)
  for (const { metadata } of rules) {
    for (const word of ['standards', 'categories', 'controls'])
      assert.ok(metadata.annotations?.[`${GROUP}/${word}`], `${metadata.name} ${word}`)
  }
  const set = all.find(({ kind }) => kind === 'PolicySet') as unknown as { spec: { policies: string[] } }
  const policies = all.filter(({ kind }) => kind === 'Policy').map(({ metadata }) => metadata.name)
  assert.deepEqual(set.spec.policies.toSorted(), policies.toSorted())
})
