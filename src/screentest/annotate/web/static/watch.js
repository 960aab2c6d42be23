// What one player has really shown: stretches that were played, places where the playhead rested.
export class Watch {
  constructor(player) {
    this.player = player;
    this.reports = [];
    this.from = null; // where the stretch that is being played began
    this.last = 0;
    this.rate = 1;
    this.restAt = null;
    this.restSince = 0;
    const video = player.video;
    video.addEventListener("playing", () => this.begin());
    for (const name of ["pause", "waiting", "ended", "seeking", "ratechange"]) {
      video.addEventListener(name, () => this.close());
    }
    video.addEventListener("ratechange", () => this.begin());
    video.addEventListener("seeked", () => (video.paused ? this.rest() : this.begin()));
    video.addEventListener("timeupdate", () => this.tick());
  }
  begin() {
    const video = this.player.video;
    this.close();
    if (video.paused || video.seeking) return;
    this.from = this.last = video.currentTime;
    this.rate = video.playbackRate;
  }
  tick() {
    const video = this.player.video;
    // While seeking, the time is already where it is going: that was not played.
    if (this.from !== null && !video.seeking && video.currentTime >= this.last) this.last = video.currentTime;
  }
  close() {
    this.endRest();
    if (!this.player.video.seeking) this.tick();
    if (this.from !== null && this.last > this.from) {
      this.reports.push({ from: this.from, to: this.last, rate: this.rate });
    }
    this.from = null;
  }
  rest() {
    this.endRest();
    this.restAt = this.player.video.currentTime;
    this.restSince = performance.now();
  }
  endRest() {
    if (this.restAt === null) return;
    this.reports.push({ at: this.restAt, rest: Math.min(5, (performance.now() - this.restSince) / 1000) });
    this.restAt = null;
  }
  take() {
    this.tick();
    if (this.from !== null && this.last > this.from) {
      this.reports.push({ from: this.from, to: this.last, rate: this.rate });
      this.from = this.last;
    }
    // A rest is reported once it has lasted a second; after that nothing new happens there.
    if (this.restAt !== null && performance.now() - this.restSince >= 1000) this.endRest();
    return this.reports.splice(0, 400);
  }
}
