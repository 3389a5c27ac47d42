//! Scatter plots as SVG.

use std::fmt::Write as _;

/// A scatter plot of some series of points.
pub struct Plot<'a> {
    pub title: &'a str,
    pub x_label: &'a str,
    pub y_label: &'a str,
    pub scale: Scale,
    pub series: Vec<Series<'a>>,
}

/// The scale of both axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// Logarithmic, over whole powers of ten; all coordinates must be above 0.
    Logarithmic,
    /// From 0 to 100.
    Percent,
}

/// Points of one color.
pub struct Series<'a> {
    pub name: &'a str,
    pub color: &'a str,
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 60.0;

impl Plot<'_> {
    /// Renders the plot.
    pub fn to_svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x_axis = Axis::over(self.scale, points().map(|point| point.0));
        let y_axis = Axis::over(self.scale, points().map(|point| point.1));
        let x = |value: f64| LEFT + x_axis.place(value) * (WIDTH - LEFT - RIGHT);
        let y = |value: f64| HEIGHT - BOTTOM - y_axis.place(value) * (HEIGHT - TOP - BOTTOM);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"24\" font-size=\"16\">{}</text>\n",
            self.title
        );
        let mut line =
            |text: String| writeln!(svg, "{text}").expect("writing to a string succeeds");
        for (value, label) in x_axis.ticks() {
            let (at, bottom) = (x(value), HEIGHT - BOTTOM);
            line(format!("<path d=\"M{at:.1} {TOP}V{bottom}\" stroke=\"#dddddd\"/>"));
            let below = bottom + 18.0;
            line(format!(
                "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{label}</text>"
            ));
        }
        for (value, label) in y_axis.ticks() {
            let (at, right) = (y(value), WIDTH - RIGHT);
            line(format!("<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#dddddd\"/>"));
            let (before, middle) = (LEFT - 8.0, at + 4.0);
            line(format!(
                "<text x=\"{before}\" y=\"{middle:.1}\" text-anchor=\"end\">{label}</text>"
            ));
        }
        let (middle, bottom) = ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 16.0);
        line(format!(
            "<text x=\"{middle}\" y=\"{bottom}\" text-anchor=\"middle\">{}</text>",
            self.x_label
        ));
        let middle = (TOP + HEIGHT - BOTTOM) / 2.0;
        line(format!(
            "<text x=\"20\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 20 {middle})\">{}</text>",
            self.y_label
        ));
        for (idx, series) in self.series.iter().enumerate() {
            for &(a, b) in &series.points {
                let (a, b) = (x(a), y(b));
                line(format!(
                    "<circle cx=\"{a:.1}\" cy=\"{b:.1}\" r=\"3\" fill=\"{}\" fill-opacity=\"0.6\"/>",
                    series.color
                ));
            }
            let (at, down) = (LEFT + 14.0, TOP + 18.0 + 20.0 * idx as f64);
            line(format!(
                "<circle cx=\"{at}\" cy=\"{}\" r=\"4\" fill=\"{}\"/>",
                down - 4.0,
                series.color
            ));
            line(format!("<text x=\"{}\" y=\"{down}\">{}</text>", at + 10.0, series.name));
        }
        svg + "</svg>\n"
    }
}

/// An axis: whole powers of ten, or percents in tens.
struct Axis {
    scale: Scale,
    lowest: i32,
    highest: i32,
}

impl Axis {
    fn over(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        if scale == Scale::Percent {
            return Self { scale, lowest: 0, highest: 10 };
        }
        let logs: Vec<f64> = values.map(f64::log10).collect();
        let lowest = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if logs.is_empty() {
            return Self { scale, lowest: 0, highest: 1 };
        }
        let lowest = lowest.floor() as i32;
        Self { scale, lowest, highest: (highest.ceil() as i32).max(lowest + 1) }
    }

    /// The position of a value: 0 at the lowest tick, 1 at the highest.
    fn place(&self, value: f64) -> f64 {
        let at = match self.scale {
            Scale::Logarithmic => value.log10(),
            Scale::Percent => value / 10.0,
        };
        (at - f64::from(self.lowest)) / f64::from(self.highest - self.lowest)
    }

    fn ticks(&self) -> impl Iterator<Item = (f64, String)> + use<> {
        let scale = self.scale;
        (self.lowest..=self.highest).map(move |step| match scale {
            Scale::Logarithmic => (10_f64.powi(step), tick(step)),
            Scale::Percent => (f64::from(10 * step), (10 * step).to_string()),
        })
    }
}

fn tick(power: i32) -> String {
    match power {
        0..=3 => 10_i32.pow(power as u32).to_string(),
        _ => format!("10<tspan dy=\"-5\" font-size=\"10\">{power}</tspan>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_within_the_axes() {
        let axis = Axis::over(Scale::Logarithmic, [3.0, 1_000.0, 70.0].into_iter());
        assert_eq!((axis.lowest, axis.highest), (0, 3));
        assert_eq!(axis.place(1.0), 0.0);
        assert_eq!(axis.place(1_000.0), 1.0);
        let series =
            vec![Series { name: "some", color: "red", points: vec![(3.0, 5.0), (1_000.0, 5.0)] }];
        let scale = Scale::Logarithmic;
        let svg = Plot { title: "t", x_label: "x", y_label: "y", scale, series }.to_svg();
        assert_eq!(svg.matches("<circle").count(), 3, "two points and the legend");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let axis = Axis::over(Scale::Percent, [37.0].into_iter());
        assert_eq!([0.0, 50.0, 100.0].map(|value| axis.place(value)), [0.0, 0.5, 1.0]);
    }
}
