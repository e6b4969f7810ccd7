import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { ApiCause } from '../core/errors.ts'
import { canonicalJson, jsonClone } from '../core/json.ts'
import { parseTime } from '../core/time/time.ts'
import { startControlPlane } from '../testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../testing/control-plane/control-plane.ts'
import type { MutableObject } from '../testing/kinds-contract/validation-case.ts'
import { ACCEPTANCE_CASES, Specimen } from '../testing/kinds-contract/specimen-cases.ts'
import { VALIDATION_CASES } from '../testing/kinds-contract/validation-cases.ts'
import { needBinary } from '../testing/testenv.ts'
import { tableColumns, tableRow } from './columns.ts'
import { toCrd } from './crd/to-crd.ts'
import type { Kind } from './define-kind.ts'
import type { KubeObject } from './meta.ts'
import { NATIVE_KINDS } from './native/native-kinds.ts'
import { openApiPath } from './openapi.ts'
import { defaultObject } from './validation/validate-object.ts'

const KINDS = [...NATIVE_KINDS, Specimen]

describe('the kinds on a real kube-apiserver', () => {
  let plane: ControlPlane
  let nextName = 0
  let warnings = ''
  let specimenWarnings = ''

  before(async () => {
    plane = await startControlPlane()
    warnings = await applyCrds(NATIVE_KINDS)
    specimenWarnings = await applyCrds([Specimen])
    const names = KINDS.map((kind) => `crd/${kind.plural}.${kind.group}`)
    await kubectl(plane, ['wait', '--for=condition=Established', '--timeout=60s', ...names])
    const namespaces = new Set(
      KINDS.flatMap((kind) => kind.examples.flatMap(({ metadata }) => metadata.namespace ?? [])),
    )
    for (const name of namespaces) {
      await plane.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
  })
  after(() => plane?.stop())

  async function applyCrds(kinds: readonly Kind[]): Promise<string> {
    const list = { apiVersion: 'v1', kind: 'List', items: kinds.map(toCrd) }
    return (await kubectl(plane, ['apply', '-f', '-'], list)).stderr
  }

  test('the CRDs are accepted without a warning', () => {
    assert.equal(warnings, '')
    // The specimen has one on purpose: it shows that a warning would be seen.
    assert.equal(specimenWarnings, 'Warning: unrecognized format "no-such-format"\n')
  })

  async function send(method: string, path: string, body?: KubeObject): Promise<{ status: number; answer: StatusOr }> {
    const { status, text } = await plane.call(method, path, body)
    return { status, answer: JSON.parse(text) as StatusOr }
  }

  /** The example with a name of its own, so that cases do not meet. */
  function exampleOf(kind: Kind): MutableObject {
    const object = jsonClone(kind.examples[0]!) as MutableObject
    object.metadata.name = `case-${nextName++}`
    return object
  }

  test('the kube-apiserver finds no fault in a schema', async () => {
    for (const kind of KINDS) {
      const { text } = await plane.call(
        'GET',
        `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${kind.plural}.${kind.group}`,
      )
      const { status } = JSON.parse(text) as { status: { conditions: { type: string; status: string }[] } }
      assert.deepEqual(
        status.conditions.map((condition) => `${condition.type}=${condition.status}`).sort(),
        ['Established=True', 'NamesAccepted=True'],
        kind.kind,
      )
    }
  })

  for (const kind of KINDS) {
    test(`${kind.kind}'s examples are stored with the defaults we give them`, async () => {
      for (const example of kind.examples) {
        const { status, answer } = await send('POST', `${pathOf(kind, example)}?fieldValidation=Strict`, example)
        assert.equal(status, 201, answer.message ?? '')
        const ours = jsonClone(example) as MutableObject
        defaultObject(kind, ours)
        assert.equal(canonicalJson(answer.spec), canonicalJson(ours.spec))
      }
    })
  }

  for (const { title, kind, on, spoil, causes } of VALIDATION_CASES) {
    test(`${kind.kind} on ${on}: ${title}`, async () => {
      let object = exampleOf(kind)
      let path = pathOf(kind, object)
      if (on !== 'create') {
        const created = await send('POST', path, object)
        assert.equal(created.status, 201, created.answer.message ?? '')
        object = created.answer as unknown as MutableObject
        path = `${path}/${object.metadata.name}${on === 'status' ? '/status' : ''}`
      }
      spoil(object)
      const { status, answer } = await send(on === 'create' ? 'POST' : 'PUT', path, object)
      assert.equal(status, 422, `${status} ${answer.message}`)
      assert.deepEqual(answer.details?.causes?.map(canonicalJson).sort(), causes.map(canonicalJson).sort())
    })
  }

  test('native kinds are shown as our tables show them', async () => {
    for (const kind of NATIVE_KINDS) {
      const example = kind.examples[0]!
      const { answer } = await send('GET', `${pathOf(kind, example)}/${example.metadata.name}`)
      await assertShown(kind, answer as unknown as KubeObject)
    }
  })

  async function assertShown(kind: Kind, object: KubeObject): Promise<void> {
    const { name, namespace } = object.metadata
    const resource = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`
    const scope = namespace ? ['-n', namespace] : []
    const { stdout } = await kubectl(plane, ['get', resource, name, '-o', 'wide', ...scope])
    const now = parseTime(object.metadata.creationTimestamp!)! + 1000
    const header = tableColumns(kind).map((column) => column.name.toUpperCase())
    const row = tableRow(kind, object, now).map((cell) => cell ?? '')
    assert.deepEqual(shownText(stdout), shownText(`${header.join(' ')}\n${row.join(' ')}`))
  }

  for (const { title, kind, spec, unknown, stored } of ACCEPTANCE_CASES) {
    test(`${kind.kind} accepted: ${title}`, async () => {
      const object = exampleOf(kind)
      object.spec = spec
      const path = pathOf(kind, object)
      if (unknown.length > 0) {
        const { status, answer } = await send('POST', `${path}?fieldValidation=Strict`, object)
        assert.equal(status, 400)
        for (const field of unknown)
          assert.ok(answer.message?.includes(`unknown field "${field}"`), answer.message ?? '')
        assert.equal(answer.message?.match(/unknown field/g)?.length, unknown.length)
      }
      const { status, answer } = await send('POST', `${path}?fieldValidation=Ignore`, object)
      assert.equal(status, 201, answer.message ?? '')
      assert.equal(canonicalJson(answer.spec), canonicalJson(stored))
    })
  }
})

/** What `kubectl get -o wide` prints, with ages masked and white space made equal. */
function shownText(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/\b(?:\d+[ydhms])+\b/g, 'AGE')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
}

interface StatusOr {
  readonly message?: string
  readonly details?: { readonly causes?: readonly ApiCause[] }
  readonly spec?: unknown
}

function pathOf(kind: Kind, object: KubeObject): string {
  const namespace = kind.scope === 'Namespaced' ? `/namespaces/${object.metadata.namespace}` : ''
  return `/${openApiPath(kind)}${namespace}/${kind.plural}`
}

async function kubectl(
  plane: ControlPlane,
  args: readonly string[],
  input?: object,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const running = promisify(execFile)(needBinary('kubectl'), ['--kubeconfig', plane.kubeconfigPath, ...args])
  running.child.stdin?.end(input ? JSON.stringify(input) : undefined)
  return running
}
