import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hintsIn, maskOf, recorded, tourSteps, wordsOf } from './transcript.ts'

test('a tour is its commands, waits and comments; recorded outputs are read over', () => {
  assert.deepEqual(
    tourSteps('# about\n\n$ flotilla status\n    Hub v1\n    \n    [exit 1]\n? flotilla get x ~ a +b\n'),
    [
      { kind: 'Say', text: '# about' },
      { kind: 'Say', text: '' },
      { kind: 'Run', command: 'flotilla status' },
      { kind: 'Until', command: 'flotilla get x', pattern: /a +b/ },
    ],
  )
})

test('what differs from run to run is masked, and nothing else', () => {
  const mask = maskOf({ HOME: '/tmp/x' })
  const shown = mask(
    '/tmp/x/hub 127.0.0.1:4711 2026-11-16T10:00:00.123Z main@sha1:b0b251263148 (3fa91c2) (dfedbee) main@1234567 defaced  12/18  1m20s 5s',
  )
  assert.equal(shown, 'HOME/hub ADDRESS TIME main@sha1:DIGEST (COMMIT) (COMMIT) main@COMMIT defaced   12/18   AGE AGE')
  const printed = { text: 'using the demo of process 7 (x)\na\n► flotilla get clusters\n', code: 5 }
  assert.equal(recorded('flotilla x', printed, mask), '$ flotilla x\n    a\n    ► flotilla get clusters\n    [exit 5]')
})

test('every command an output tells to run is found, unless it has blanks to fill in', () => {
  const text = [
    '► bin/flotilla cluster release store-04',
    '► to lift it: bin/flotilla freeze lift audit',
    'Next     bin/flotilla get clusters --state failed -o wide     bin/flotilla rollout watch a -n b',
    'hint: list clusters with "bin/flotilla get clusters", or look there',
    'hint: use "bin/flotilla delete KIND NAME", or "bin/flotilla delete bundle shop".',
    '✔ done (bin/flotilla events --for bundle/shop), see bin/flotilla help output.',
    'flotilla get clusters is not a hint here, nor is /opt/bin/flotilla',
  ].join('\n')
  assert.deepEqual(hintsIn(text), [
    'bin/flotilla cluster release store-04',
    'bin/flotilla freeze lift audit',
    'bin/flotilla get clusters --state failed -o wide',
    'bin/flotilla rollout watch a -n b',
    'bin/flotilla get clusters',
    'bin/flotilla delete bundle shop',
    'bin/flotilla events --for bundle/shop',
    'bin/flotilla help output',
  ])
})

test('quotes keep words together', () => {
  assert.deepEqual(wordsOf(`a --reason "it's open" 'b c'd -o jsonpath='{.x}'`), [
    'a',
    '--reason',
    "it's open",
    'b cd',
    '-o',
    'jsonpath={.x}',
  ])
})
