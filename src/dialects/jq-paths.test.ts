import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPaths, parseJsonPath } from '../kinds/json-path.ts'
import { jsonPathsOfJq } from './jq-paths.ts'

const OBJECT = {
  spec: {
    replicas: 3,
    template: {
      spec: {
        containers: [
          { name: 'web', image: 'a', env: [{ name: 'A', value: '1' }] },
          { name: 'side', image: 'b', env: [{ name: 'B', value: '2' }] },
        ],
      },
    },
  },
  metadata: { annotations: { 'a.b/c': 'x' } },
  webhooks: [{ clientConfig: { caBundle: 'x' } }, { clientConfig: {} }],
}

/** The fields that an expression means in the object. */
function fields(expression: string): string[] | undefined {
  return jsonPathsOfJq(expression)?.flatMap((path) => {
    const steps = parseJsonPath(path)
    assert.ok(steps, path)
    return findPaths(OBJECT, steps).map((place) => place.join('/'))
  })
}

test('jq expressions that mean fields', () => {
  const containers = 'spec/template/spec/containers'
  for (const [expression, expected] of [
    ['.spec.replicas', ['spec/replicas']],
    ['.webhooks[]?.clientConfig.caBundle', ['webhooks/0/clientConfig/caBundle']],
    ['.webhooks[0].clientConfig', ['webhooks/0/clientConfig']],
    ['.metadata.annotations["a.b/c"]', ['metadata/annotations/a.b/c']],
    ['.metadata.annotations."a.b/c"', ['metadata/annotations/a.b/c']],
    ['.["spec"].replicas', ['spec/replicas']],
    ['.spec.template.spec.containers[] | select(.name == "side") | .image', [`${containers}/1/image`]],
    ['.spec.template.spec.containers[] | select(.name != "side").image', undefined],
    [
      '.spec.template.spec.containers[] | select(.name=="web" or .name=="side") | .image',
      [`${containers}/0/image`, `${containers}/1/image`],
    ],
    [
      '.spec.template.spec.containers[]|select(.name=="web")|.env[]|select(.name=="A")|.value',
      [`${containers}/0/env/0/value`],
    ],
    ['.spec.replicas, .webhooks[1]', ['spec/replicas', 'webhooks/1']],
  ] as const)
    assert.deepEqual(fields(expression), expected, expression)
})

test('what computes something, or everything, has no paths', () => {
  for (const expression of [
    '.',
    '',
    '..',
    '.spec | keys',
    'del(.spec)',
    '.a[] | select(.b | test("x")) | .c',
    '.a | select(.b == "x")',
    '.a[] | select(.b == "x" or .c != "y")',
    '.a[] | select(.b == "x\\"y")',
    '.a + .b',
    '.a[1:2]',
    `.${'a'.repeat(2000)}`,
    'select(.a == "b")',
  ])
    assert.equal(jsonPathsOfJq(expression), undefined, expression)
})
