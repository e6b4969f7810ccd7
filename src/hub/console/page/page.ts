/** The live page. Text reaches the document as text only; there is no innerHTML here. */
import type { BundleRow, ClusterRow, FleetSnapshot, RolloutRow } from '../fleet-view.ts'

// The same signs as in the terminal; colour never carries meaning alone.
const SIGNS: Readonly<Record<string, string>> = {
  Ready: '✔',
  Completed: '✔',
  Progressing: '↻',
  Pending: '…',
  Offline: '◌',
  Drifted: '≠',
  Paused: '⏸',
  Failed: '✗',
  Superseded: '–',
  Aborted: '–',
  'Held back': '↩',
  NotSelected: '–',
  Left: '⊘',
  Rejected: '⊘',
  Revoked: '⊘',
}

/** Why rings do not wait for clusters. */
const EXCUSES: Readonly<Record<string, string>> = { notBuilt: 'not built' }

function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`the page has no element ${id}`)
  return found
}

function make(tag: string, className: string, ...content: (string | Node)[]): HTMLElement {
  const element = document.createElement(tag)
  if (className !== '') element.className = className
  element.append(...content)
  return element
}

function stateOf(state: string): HTMLElement {
  const element = make('span', 'state', `${SIGNS[state] ?? '?'} ${state}`)
  element.dataset['state'] = state
  return element
}

/** A row by its columns; on a narrow screen each cell says itself which one it is. */
function row(cells: Readonly<Record<string, string | Node | (string | Node)[]>>): HTMLElement {
  const made = Object.entries(cells).map(([column, cell]) => {
    const element = make('td', '', ...(Array.isArray(cell) ? cell : [cell]))
    element.dataset['column'] = column
    return element
  })
  return make('tr', '', ...made)
}

function message(text: string): Node[] {
  return text === '' ? [] : [make('span', 'message', text)]
}

/** What is said of the cluster beyond what its bundles say beside it. */
function ownWords({ message: text, bundles }: ClusterRow): string {
  return bundles
    .reduce((left, { state, message: why }) => (state === 'Ready' ? left : left.replace(why, '')), text)
    .trim()
}

function clusterRow(cluster: ClusterRow): HTMLElement {
  const bundles = cluster.bundles.map(({ bundle, generation, state, message: why }) =>
    make('div', 'bundle', stateOf(state), ` ${bundle} (${generation})`, ...message(state === 'Ready' ? '' : why)),
  )
  const labels = cluster.labels.split(' ').filter((label) => label !== '')
  const element = row({
    Name: cluster.name,
    State: [stateOf(cluster.state), ...message(cluster.state === 'Ready' ? '' : ownWords(cluster))],
    Bundles: bundles.length === 0 ? 'none' : bundles,
    Labels: labels.map((label) => make('span', 'label', label)),
    Version: cluster.version,
    Seen: cluster.seen,
  })
  element.id = `cluster-${cluster.name}`
  element.dataset['cluster'] = cluster.name
  return element
}

/** The clusters of each ring as tiles, in the order of the rings' first clusters by name. */
function ringRows(clusters: readonly ClusterRow[]): HTMLElement[] {
  const rings = new Map<string, ClusterRow[]>()
  for (const cluster of clusters.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const members = rings.get(cluster.ring) ?? []
    members.push(cluster)
    rings.set(cluster.ring, members)
  }
  return [...rings].map(([ring, members]) => {
    const name = ring === '' ? (rings.size === 1 ? 'all' : 'no ring') : ring
    const ready = members.filter(({ state }) => state === 'Ready').length
    const line = make(
      'div',
      'ring',
      make('span', 'ring-name', name),
      make('span', 'ring-count', `${ready} of ${members.length} ready`),
      make('span', 'tiles', ...members.map(tile)),
    )
    line.dataset['ring'] = ring
    return line
  })
}

function tile({ name, state, message: why }: ClusterRow): HTMLElement {
  const element = make('a', 'tile state', SIGNS[state] ?? '?') as HTMLAnchorElement
  element.href = `#cluster-${name}`
  element.dataset['state'] = state
  element.title = `${name}: ${state}${why === '' || state === 'Ready' ? '' : `. ${why}`}`
  element.setAttribute('aria-label', `${name} ${state}`)
  return element
}

function bundleRow(bundle: BundleRow): HTMLElement {
  const element = row({
    Name: bundle.name,
    Generation: String(bundle.generation),
    Placement: bundle.placement,
    State: stateOf(bundle.state),
    Message: message(bundle.message),
  })
  element.dataset['bundle'] = bundle.name
  return element
}

function rolloutCard(rollout: RolloutRow): HTMLElement {
  const { total = 0, ready = 0, ...others } = rollout.counts
  const card = make('article', 'card', make('h3', '', rollout.name), stateOf(rollout.phase))
  const bar = document.createElement('progress')
  bar.max = Math.max(total, 1)
  bar.value = ready
  bar.setAttribute('aria-label', `${ready} of ${total} ready`)
  const rest = Object.entries(others).filter(([, count]) => count > 0)
  const away = rollout.offlineNow > 0 ? [`${rollout.offlineNow} offline now`] : []
  const excused = Object.entries(rollout.excused).map(([reason, count]) => `${count} ${EXCUSES[reason] ?? reason}`)
  const counts = [
    `${ready} of ${total} ready`,
    ...rest.map(([name, count]) => `${count} ${name === 'offline' ? 'offline without it' : name}`),
    ...away,
    ...(excused.length === 0 ? [] : [`not waited for: ${excused.join(', ')}`]),
  ].join(' · ')
  card.append(bar, make('p', '', counts))
  if (rollout.message !== '' && rollout.phase !== 'Completed') card.append(make('p', '', rollout.message))
  card.dataset['rollout'] = rollout.name
  return card
}

function fill(id: string, items: readonly HTMLElement[], empty: string): void {
  const target = byId(id)
  if (items.length > 0) return target.replaceChildren(...items)
  if (target instanceof HTMLTableSectionElement) {
    const cell = make('td', 'empty', empty) as HTMLTableCellElement
    cell.colSpan = 6
    return target.replaceChildren(make('tr', '', cell))
  }
  target.replaceChildren(make('p', '', empty))
}

function show(fleet: FleetSnapshot): void {
  const counted = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([state, count]) => {
      const element = stateOf(state)
      element.append(` ${count}`)
      return element
    })
  const apart = counted(fleet.apart)
  byId('counts').replaceChildren(
    make('strong', '', `${fleet.total} ${fleet.total === 1 ? 'cluster' : 'clusters'}`),
    ...counted(fleet.counts),
    ...(apart.length === 0 ? [] : [make('span', 'apart', 'not in the fleet:'), ...apart]),
  )
  const members = fleet.clusters.filter(({ isApart }) => !isApart)
  fill('rings', ringRows(members), 'No cluster has joined yet.')
  fill('clusters', fleet.clusters.map(clusterRow), 'No cluster has joined yet. Add one: flotilla cluster add NAME')
  fill('bundles', fleet.bundles.map(bundleRow), 'No bundle yet. Apply one: flotilla apply -f FILE')
  fill('rollouts', fleet.rollouts.map(rolloutCard), 'No rollout yet.')
  const hidden = fleet.total - members.length
  byId('more').textContent = hidden > 0 ? `and ${hidden} more; flotilla get clusters shows all` : ''
}

function link(state: 'live' | 'lost', text: string): void {
  const element = byId('link')
  element.dataset['state'] = state
  element.textContent = text
}

const events = new EventSource('/events')
events.addEventListener('fleet', (event) => {
  show(JSON.parse((event as MessageEvent<string>).data) as FleetSnapshot)
  link('live', 'live')
})
events.addEventListener('error', () => link('lost', 'connection lost; what you see is old'))
