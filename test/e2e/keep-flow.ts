/**
 * What every hub and its clusters go through, whatever they are made of: the same steps for the embedded home and for a
 * real one.
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemIds } from '../../src/core/system-ids.ts'
import { eventually } from './keep-world.ts'
import type { KeepWorld } from './keep-world.ts'

// Long enough for an agent or a hub that would do something wrong to do it: they act within a second or two.
const QUIET_MS = 4000

const TURNED_AWAY = /"state":"Refused".*"msg":"link changed"/

/** Clusters join, wait for a person, and follow. */
export async function joinAcceptFollow(world: KeepWorld): Promise<void> {
  world.moveRootAway()
  for (const name of world.names) {
    await world.addCluster(name)
    world.startAgent(name)
  }
  await world.apply('1')
  for (const name of world.names) {
    const waiting = await eventually(`${name} waiting`, async () => await world.cluster(name).catch(() => undefined))
    assert.equal(waiting.spec.accepted, false)
  }
  assert.deepEqual(
    await world.notes(),
    world.names.map(() => undefined),
    'no cluster gets content before a person has accepted it',
  )
  for (const name of world.names) await world.flotilla('cluster', 'accept', name, '--yes')
  await world.untilNote('1')
}

/** The hub is killed in the middle of its work and comes back; agents go on meanwhile, and afterwards. */
export async function killHub(world: KeepWorld): Promise<void> {
  await world.apply('2')
  await world.stopHub('SIGKILL')
  await world.startHub()
  await world.untilNote('2')
}

/** Signer and CA are rotated while one agent follows and another one is away, three times, and the old ones dropped. */
export async function rotateWhileAway(world: KeepWorld): Promise<void> {
  const [here = '', away = ''] = world.names
  const { id } = (await world.cluster(away)).spec
  assert.equal((await world.stopAgent(away)).code, 0)
  for (let round = 0; round < 2; round++) {
    await world.asRoot('trust', 'rotate', 'signer', '--drop-old')
    await world.asRoot('trust', 'rotate', 'ca', '--drop-old')
  }
  await world.apply('3')
  await world.untilNote('3', [here])
  assert.equal((await world.note(away))?.text, '2')
  world.startAgent(away)
  await world.untilNote('3')
  assert.equal((await world.cluster(away)).spec.id, id, 'the same cluster')
}

/**
 * The hub is gone and the agents start with certificates that have run out: they repair what is edited and deleted, and
 * renew when the hub is back.
 */
export async function repairWithExpiredCertificates(world: KeepWorld): Promise<void> {
  await world.apply('kept')
  await world.untilNote('kept')
  for (const name of world.names) {
    assert.equal((await world.stopAgent(name)).code, 0)
    await world.expireCertificate(name)
    assert.ok(world.certificateHoldsMs(name) < 0)
  }
  await world.stopHub()
  for (const name of world.names) {
    await world.editNote(name, 'edited while the agent was down')
    world.startAgent(name)
  }
  await world.untilNote('kept')
  for (const name of world.names) await world.editNote(name, 'edited by hand')
  await world.untilNote('kept')
  for (const name of world.names) await world.deleteNote(name)
  await world.untilNote('kept')
  for (const name of world.names) assert.ok(world.certificateHoldsMs(name) < 0, 'no hub was there to renew it')
  await world.startHub()
  await world.apply('renewed')
  await world.untilNote('renewed')
  for (const name of world.names) assert.ok(world.certificateHoldsMs(name) > 0)
}

/**
 * The hub goes back to the state it has now, after its clusters went on by two revisions. Agents tell it, nothing
 * changes anywhere until a person says so, and then nothing until the hub has caught up with what runs. `remember` is
 * called while the hub is stopped; what it gives brings that state back.
 */
export async function comeBackFromThePast(
  world: KeepWorld,
  label: string,
  remember: () => Promise<() => Promise<void>>,
): Promise<void> {
  await world.stopHub()
  const goBack = await remember()
  await world.startHub()
  for (const step of ['future', 'lost']) {
    await world.apply(`${label} ${step}`)
    await world.untilNote(`${label} ${step}`)
  }
  const before = await world.notes()
  await world.stopHub('SIGKILL')
  await goBack()
  await world.startHub()
  for (const name of world.names) {
    const behind = await eventually(`${name} telling the truth`, async () => {
      const found = await world.condition(name, 'HubBehind')
      return found?.status === 'True' ? found : undefined
    })
    assert.match(behind.message, /with this hub's own signature; .*flotilla hub new-epoch/)
  }
  await world.apply(`${label} fork`)
  await eventually('the hub holding back', async () => {
    const found = await world.condition(world.names[0]!, 'Assigned')
    return found?.reason === 'HubBehind' ? found : undefined
  })
  await sleep(QUIET_MS)
  assert.deepEqual(await world.notes(), before, 'nothing is written while the hub is behind')

  await world.asRoot('hub', 'new-epoch')
  for (const name of world.names) {
    await eventually(
      'the new epoch',
      async () => (await world.condition(name, 'HubBehind'))?.status === 'False' || undefined,
    )
  }
  await sleep(QUIET_MS)
  assert.deepEqual(await world.notes(), before, 'an epoch alone changes nothing (I-25)')
  await world.apply(`${label} again`)
  await world.untilNote(`${label} again`)
}

/**
 * A line of 1 KB/s for all clusters together: a change arrives, no cluster is cut off, and the hub still hears them.
 */
export async function followOverThinLine(world: KeepWorld): Promise<void> {
  const { relay } = world
  const [connections, delivered] = [relay.connections(), relay.delivered()]
  relay.bytesPerSecond = 1024
  try {
    await world.apply('thin', systemIds.suffix(4000))
    await world.untilNote('thin')
  } finally {
    relay.bytesPerSecond = undefined
  }
  // Both clusters got some 3 KB of letters that do not compress, and what belongs to it; in one piece each.
  const [more, bytes] = [relay.connections() - connections, relay.delivered() - delivered]
  assert.ok(bytes > 5000 && bytes < 40_000, `${bytes} bytes`)
  // What is asked for at the same time has a connection each: the stream, a document, its content, a check-in. None is
  // opened again and again.
  assert.ok(more <= 4 * world.names.length, `${more} new connections`)
  for (const name of world.names) assert.equal((await world.condition(name, 'Available'))?.status, 'True')
}

/** Every connection is reset repeatedly in the middle of a large answer: no agent requests bytes it already has. */
export async function resumeAfterResets(world: KeepWorld): Promise<void> {
  const { relay, names } = world
  const before = new Map(names.map((name) => [name, world.contentOf(name).length]))
  relay.resets.push(150_000, 200_000, 250_000)
  await world.apply('reset', systemIds.suffix(600_000))
  await world.untilNote('reset')
  assert.equal(relay.resets.length, 0, 'all resets happened')
  const begun = names.flatMap((name) => [...startsByPath(world.contentOf(name).slice(before.get(name)))])
  // How much lies unread in buffers when a line breaks is the machine's business; that each attempt begins after the
  // one before is ours.
  for (const [path, starts] of begun) {
    assert.deepEqual(
      starts,
      starts.toSorted((a, b) => a - b),
      path,
    )
  }
  const further = begun.flatMap(([, starts]) => starts).filter((from) => from > 0)
  assert.ok(further.length > 0, `no agent resumed: ${JSON.stringify(begun)}`)
}

function startsByPath(
  answers: readonly { readonly path: string; readonly from: number }[],
): ReadonlyMap<string, readonly number[]> {
  const starts = new Map<string, number[]>()
  for (const { path, from } of answers) starts.set(path, [...(starts.get(path) ?? []), from])
  return starts
}

/**
 * A cluster is revoked while it follows: nothing more reaches it, what runs there stays, and the others go on. Taken
 * back it is the same cluster with the same workloads, also with an agent that was started again.
 */
export async function revokeAndTakeBack(world: KeepWorld): Promise<void> {
  const [here = '', out = ''] = world.names
  const { id } = (await world.cluster(out)).spec
  const before = await world.note(out)
  assert.doesNotMatch(world.agentLogged(out), TURNED_AWAY)
  await world.flotilla('cluster', 'revoke', out, '--yes')
  // Not by its next check-in: the open stream itself ends.
  await eventually('its stream ended', async () => TURNED_AWAY.test(world.agentLogged(out)) || undefined)
  await world.apply('revoked')
  await world.untilNote('revoked', [here])
  await sleep(QUIET_MS)
  assert.deepEqual(await world.note(out), before, 'a revoked cluster gets nothing, and loses nothing')
  assert.equal((await world.condition(out, 'Accepted'))?.status, 'False')
  assert.equal((await world.stopAgent(out)).code, 0)
  await world.flotilla('cluster', 'accept', out, '--yes')
  world.startAgent(out)
  await world.untilNote('revoked')
  assert.equal((await world.cluster(out)).spec.id, id, 'the same cluster')
  assert.equal((await world.note(out))?.uid, before?.uid, 'the same object, changed and not made anew')
}
