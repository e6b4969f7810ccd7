import assert from 'node:assert/strict'
import { test } from 'node:test'
import { treeText } from './tree-text.ts'

test('objects are a tree with a level for each dot', () => {
  const lines: readonly (readonly [string, unknown])[] = [
    ['Accepted', true],
    ['Capacity.Cpu', '4'],
    ['Capacity.Memory', ''],
  ]
  assert.equal(
    treeText(
      'ManagedCluster',
      new Map([
        ['a', lines],
        ['b', lines.slice(0, 1)],
      ]),
    ),
    [
      '<ManagedCluster>',
      '├── <a>',
      '│   ├── <Accepted> true',
      '│   └── <Capacity>',
      '│       ├── <Cpu> 4',
      '│       └── <Memory>',
      '└── <b>',
      '    └── <Accepted> true',
      '',
    ].join('\n'),
  )
})
