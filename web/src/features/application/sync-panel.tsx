export default function SyncPanel() {
  return null;
}
