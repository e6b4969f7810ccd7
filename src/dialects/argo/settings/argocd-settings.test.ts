import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { excludedFrom, readSettings, settingNotes } from './argocd-settings.ts'

const HEALTHY = 'return {status = "Healthy"}'
const messages = (data: Record<string, string>) => readSettings(data).problems.map(({ message }) => message)

describe('settings of argocd-cm', () => {
  it('are empty without the ConfigMap', () => {
    const { health, ignore, problems } = readSettings()
    assert.deepEqual([health, ignore, problems], [[], [], []])
  })

  it('read health checks of both forms; a key of its own wins, and exact kinds come before patterns', () => {
    const { health, problems } = readSettings({
      'resource.customizations': [
        '"*.crossplane.io/*":',
        '  health.lua: |',
        '    return {status = "Progressing"}',
        'example.com/Widget:',
        '  health.lua: return nil',
        '  actions: {definitions: []}',
      ].join('\n'),
      'resource.customizations.health.example.com_Widget': HEALTHY,
      'resource.customizations.health.ConfigMap': HEALTHY,
      'resource.customizations.actions.apps_Deployment': 'discovery.lua: x',
    })
    assert.deepEqual(problems, [])
    assert.deepEqual(
      health.map(({ group, kind, lua }) => [group, kind, lua?.trim()]),
      [
        ['', 'ConfigMap', HEALTHY],
        ['example.com', 'Widget', HEALTHY],
        ['*.crossplane.io', '*', 'return {status = "Progressing"}'],
      ],
    )
  })

  it('refuse checks that cannot run by name, for the objects of their kind', () => {
    const settings = readSettings({
      'resource.customizations.health.example.com_Widget': 'return os.time()',
      'resource.customizations.health.example.com_Other': HEALTHY,
    })
    assert.deepEqual(
      settings.health.map(({ kind }) => kind),
      ['Other'],
    )
    const note = 'ConfigMap argocd-cm: the health check of example.com/Widget is not used: line 1: os is not available'
    assert.deepEqual(
      settingNotes(settings, ({ kind }) => kind === 'Widget'),
      [note],
    )
    assert.deepEqual(
      settingNotes(settings, ({ kind }) => kind === 'Other'),
      [],
    )
  })

  it('read ignored differences', () => {
    const { ignore, problems } = readSettings({
      'resource.customizations.ignoreDifferences.apps_Deployment': 'jsonPointers: [/spec/replicas]\n',
      'resource.customizations.ignoreDifferences.all': 'managedFieldsManagers: [kube-controller-manager]',
      'resource.customizations':
        'admissionregistration.k8s.io/MutatingWebhookConfiguration:\n  ignoreDifferences: |\n    jqPathExpressions: [".webhooks[]?.clientConfig.caBundle"]\n',
    })
    assert.deepEqual(problems, [])
    assert.deepEqual(ignore, [
      {
        group: 'admissionregistration.k8s.io',
        kind: 'MutatingWebhookConfiguration',
        paths: ['.webhooks[*].clientConfig.caBundle'],
      },
      { group: 'apps', kind: 'Deployment', pointers: ['/spec/replicas'] },
      { managers: ['kube-controller-manager'] },
    ])
  })

  it('read exclusions, by the address of the cluster', () => {
    const settings = readSettings({
      'resource.exclusions':
        '- {apiGroups: ["*"], kinds: [Event, Lease]}\n- {apiGroups: [], kinds: [], clusters: ["https://c2"]}\n',
    })
    assert.deepEqual(settings.problems, [])
    const everywhere = [
      { group: '*', kind: 'Event' },
      { group: '*', kind: 'Lease' },
    ]
    assert.deepEqual(excludedFrom(settings, 'https://c1'), everywhere)
    assert.deepEqual(excludedFrom(settings, 'https://c2'), [...everywhere, { group: '*', kind: '*' }])
    assert.equal(excludedFrom(readSettings(), 'https://c1'), undefined)
  })

  const wrong: [string, Record<string, string>, RegExp][] = [
    ['a block that is no YAML', { 'resource.customizations': 'a: [' }, /^resource\.customizations cannot be read: /],
    ['a block that is a list', { 'resource.customizations': '[1]' }, /^resource\.customizations is not a map$/],
    ['a kind that is none', { 'resource.customizations': '"a b/c": {health.lua: x}' }, /^a b\/c is not a kind/],
    ['a kind that is no map', { 'resource.customizations': 'apps/Deployment: 1' }, /apps\/Deployment is not a map/],
    ['an unknown part', { 'resource.customizations.helth.apps_Deployment': HEALTHY }, /helth is not a customization/],
    ['two underscores', { 'resource.customizations.health.a_b_C': HEALTHY }, /GROUP_KIND/],
    ['inclusions', { 'resource.inclusions': '- {kinds: [Pod]}' }, /^resource\.inclusions has no effect/],
    ['exclusions that are no list', { 'resource.exclusions': 'a: b' }, /^resource\.exclusions is not a list$/],
    ['kinds that are no list', { 'resource.exclusions': '- {kinds: Pod}' }, /^resource\.exclusions\[0\] has no effect/],
    [
      'a computed path',
      { 'resource.customizations.ignoreDifferences.apps_Deployment': 'jqPathExpressions: [".a | length"]' },
      /computes something.*\(resource\.customizations\.ignoreDifferences\.apps_Deployment\)$/,
    ],
  ]
  for (const [name, data, expected] of wrong) {
    it(`say what is wrong: ${name}`, () => {
      const said = messages(data)
      assert.equal(said.length, 1, said.join('\n'))
      assert.match(said[0]!, expected)
    })
  }

  it('have limits, and say which check is left out', () => {
    const many = Object.fromEntries(
      Array.from({ length: 66 }, (_, at) => [`resource.customizations.health.example.com_K${100 + at}`, HEALTHY]),
    )
    const { health, problems } = readSettings(many)
    assert.equal(health.length, 64)
    assert.deepEqual(
      problems.map(({ selector }) => selector.kind),
      ['K164', 'K165'],
    )
  })

  it('have the same digest when nothing else changes', () => {
    const data = { 'resource.customizations.health.example.com_Widget': HEALTHY }
    assert.equal(readSettings(data).digest, readSettings({ ...data, url: 'https://argocd.example' }).digest)
    assert.notEqual(readSettings(data).digest, readSettings({}).digest)
  })
})
